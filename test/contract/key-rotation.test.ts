import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetPublicKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { createAccessTokenVerifier } from '../../lambda/authorize-request/handler';
import { createHandler, toJwk } from '../../lambda/export-jwks/handler';
import { signByKms } from '../support/api';
import { localClient } from '../support/aws-client';
import { startKms } from '../support/local-services';
import { recordLog } from '../support/log';
import { accessTokenClaims, issuer } from '../support/tokens';

const arnOf = (label: string) => `arn:aws:kms:eu-central-1:000000000000:key/${label}`;

let directory: string;
let kms: Awaited<ReturnType<typeof startKms>>;
let client: KMSClient;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  kms = await startKms();
  client = new KMSClient(localClient(kms.url));
  for (const label of ['first', 'second']) {
    kms.create({
      arn: arnOf(label),
      directory,
      name: label,
      keySpec: 'ECC_NIST_P256',
      keyUsage: 'SIGN_VERIFY',
    });
  }
});
afterAll(async () => {
  client.destroy();
  await kms.close();
  rmSync(directory, { recursive: true });
});

const getPublicKey = async (arn: string): Promise<Uint8Array> => {
  const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId: arn }));
  return PublicKey ?? new Uint8Array();
};

async function sign(label: string): Promise<string> {
  const { kid } = toJwk(await getPublicKey(arnOf(label)));
  return signByKms(client, arnOf(label), { kid }, accessTokenClaims());
}

/** Deploys keys with these labels: the custom resource's update, then the authorizer's verifier. */
async function deploy(...labels: readonly string[]) {
  const { Data } = await createHandler({ log: recordLog(), getPublicKey, pause: async () => undefined })({
    RequestType: 'Update',
    PhysicalResourceId: 'signing-keys',
    ResourceProperties: { Keys: labels.map((label) => ({ Label: label, Arn: arnOf(label) })) },
  } as unknown as CloudFormationCustomResourceEvent);
  const verify = createAccessTokenVerifier(JSON.parse(Data?.Jwks ?? ''), issuer, 86_400);
  return async (label: string) => {
    const result = verify(await sign(label));
    return result.ok ? 'accepted' : result.error.cause;
  };
}

it('a key is rotated without downtime: one label, then two, then the new one', async () => {
  const before = await deploy('first');
  expect([await before('first'), await before('second')]).toEqual(['accepted', 'key_unknown']);
  const during = await deploy('second', 'first');
  expect([await during('first'), await during('second')]).toEqual(['accepted', 'accepted']);
  const after = await deploy('second');
  expect([await after('first'), await after('second')]).toEqual(['key_unknown', 'accepted']);
});

it('a key that KMS does not return fails the deployment, with its label', async () => {
  await expect(deploy('second', 'absent')).rejects.toThrow(/'absent'.*NotFoundException/);
});
