import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  GenerateMacCommand,
  GetPublicKeyCommand,
  KMSClient,
  ListKeysCommand,
  SignCommand,
} from '@aws-sdk/client-kms';
import { localClient } from '../../support/aws-client';
import { startKms } from '../../support/local-services';
import { temporaryFolder } from '../../support/temporary-folder';

const keyArn = (id: string) => `arn:aws:kms:eu-central-1:000000000000:key/${id}`;
const [signing, mac] = [keyArn('signing'), keyArn('mac')];

const folder = temporaryFolder();
let kms: Awaited<ReturnType<typeof startKms>>;
let client: KMSClient;

const createMac = (arn: string) =>
  kms.create({
    ...{ arn, directory: folder(), name: 'Mac' },
    ...{ keySpec: 'HMAC_256', keyUsage: 'GENERATE_VERIFY_MAC' },
  });
const signingKey = { arn: signing, keySpec: 'ECC_NIST_P256', keyUsage: 'SIGN_VERIFY' };

beforeEach(async () => {
  kms = await startKms();
  kms.create({ ...signingKey, directory: folder(), name: 'Signing' });
  createMac(mac);
  client = new KMSClient(localClient(kms.url));
});
afterEach(async () => {
  client.destroy();
  await kms.close();
});

const sign = (KeyId: string, more: object = {}) =>
  new SignCommand({ KeyId, Message: Buffer.from('m'), SigningAlgorithm: 'ECDSA_SHA_256', ...more });
const generateMac = (KeyId: string) =>
  new GenerateMacCommand({ KeyId, Message: Buffer.from('m'), MacAlgorithm: 'HMAC_SHA_256' });

it('signs by ARN or id; the public key verifies the signature', async () => {
  const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId: signing }));
  const key = createPublicKey({ key: Buffer.from(PublicKey as Uint8Array), type: 'spki', format: 'der' });
  for (const id of [signing, 'signing']) {
    const Message = randomBytes(4_096);
    const { Signature, KeyId } = await client.send(sign(id, { Message, MessageType: 'RAW' }));
    expect(KeyId).toBe(signing);
    expect(verify('sha256', Message, key, Signature as Uint8Array)).toBe(true);
    expect(verify('sha256', randomBytes(4_096), key, Signature as Uint8Array)).toBe(false);
  }
});

it.each([
  ['an unknown key', sign(keyArn('none')), 'NotFoundException'],
  ['a signature by a key for MACs', sign(mac), 'InvalidKeyUsageException'],
  ['a MAC by a key for signatures', generateMac(signing), 'InvalidKeyUsageException'],
  ['the public half of a symmetric key', new GetPublicKeyCommand({ KeyId: mac }), 'InvalidKeyUsageException'],
  ['another algorithm', sign(signing, { SigningAlgorithm: 'RSASSA_PSS_SHA_256' }), 'ValidationException'],
  ['a digest', sign(signing, { MessageType: 'DIGEST' }), 'ValidationException'],
  ['a message of more than 4 KiB', sign(signing, { Message: Buffer.alloc(4_097) }), 'ValidationException'],
  ['no message', sign(signing, { Message: undefined }), 'ValidationException'],
  ['another operation', new ListKeysCommand({}), 'UnknownOperationException'],
])('refuses %s', async (_, command, name) => {
  await expect(client.send(command as SignCommand)).rejects.toMatchObject({ name });
});

it('reads an existing key from a file that only its owner can read', async () => {
  const { Mac } = await client.send(generateMac(mac));
  createMac(keyArn('again'));
  expect((await client.send(generateMac(keyArn('again')))).Mac).toEqual(Mac);
  expect(statSync(join(folder(), 'Mac.json')).mode & 0o777).toBe(0o600);
});

it('refuses a key file of another kind, and unsupported kinds', () => {
  const key = { ...signingKey, directory: folder() };
  expect(() => kms.create({ ...key, name: 'Mac' })).toThrow('contains a key of HMAC_256');
  expect(() => kms.create({ ...key, name: 'New', keySpec: 'RSA_2048' })).toThrow('not supported');
});
