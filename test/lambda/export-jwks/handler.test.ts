import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { createAccessTokenVerifier } from '../../../lambda/authorize-request/handler';
import { createHandler } from '../../../lambda/export-jwks/handler';
import { recordLog } from '../../support/log';
import { accessTokenClaims, createSigningKey, issuer, signJwt } from '../../support/tokens';

/** DER, as KMS returns it. */
const derOf = (key: Parameters<typeof createPublicKey>[0]) =>
  createPublicKey(key).export({ format: 'der', type: 'spki' });
const [first, second] = [createSigningKey(), createSigningKey()];
let pauses: number[];
beforeEach(() => {
  pauses = [];
});

const arnOf = (label: string) => `arn:aws:kms:eu-central-1:000000000000:key/${label}`;
const named = (...labels: string[]) => ({
  ResourceProperties: { Keys: labels.map((Label) => ({ Label, Arn: arnOf(Label) })) },
});
const fromKms = async (arn: string) => derOf((arn === arnOf('second') ? second : first).privateKey);
const exportKeys = (event: object, getPublicKey: (arn: string) => Promise<Uint8Array> = fromKms) =>
  createHandler({ log: recordLog(), getPublicKey, pause: async (ms) => pauses.push(ms) })({
    RequestType: 'Create',
    LogicalResourceId: 'AccessTokenKeys',
    ...event,
  } as unknown as CloudFormationCustomResourceEvent);

it('a key is rotated without downtime: tokens of every exported key are valid, of no other', async () => {
  for (const labels of [['first'], ['second', 'first'], ['second']]) {
    const { Data } = await exportKeys(named(...labels));
    const verify = createAccessTokenVerifier(JSON.parse(Data?.Jwks ?? ''), issuer, 86_400);
    for (const [label, key] of Object.entries({ first, second })) {
      const { ok } = verify(signJwt(key, accessTokenClaims()));
      expect([labels, label, ok]).toEqual([labels, label, labels.includes(label)]);
    }
  }
});

it('keeps its physical id on update and deletion; deletion does not call KMS', async () => {
  const ids = { PhysicalResourceId: 'first' };
  expect(await exportKeys({ RequestType: 'Update', ...named('first'), ...ids })).toMatchObject(ids);
  const refuse = () => Promise.reject(new Error('called'));
  expect(await exportKeys({ RequestType: 'Delete', ...ids }, refuse)).toEqual(ids);
});

const fails = (name: string) => () => Promise.reject(Object.assign(new Error('reason'), { name }));
const denies = fails('AccessDeniedException');

const p384 = derOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey);
it.each<[string, () => Promise<Uint8Array>, string, number]>([
  ['after 30 s of denied access', denies, 'reason', 15],
  ['for a disabled key', fails('DisabledException'), 'DisabledException: reason', 0],
  ['for a key on another curve', async () => p384, 'ES256 needs EC on P-256', 0],
])('fails with the label, the key and the reason %s', async (_, getPublicKey, reason, retries) => {
  const failure = new RegExp(`The signing key 'first' \\(${arnOf('first')}\\).*${reason}`);
  await expect(exportKeys(named('first'), getPublicKey)).rejects.toThrow(failure);
  expect(pauses).toEqual(Array(retries).fill(2_000));
});
