import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
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

async function startWithKeys() {
  const started = await startKms();
  const directory = folder();
  const signingKey = { name: 'Signing', keySpec: 'ECC_NIST_P256', keyUsage: 'SIGN_VERIFY' };
  const macKey = { name: 'Mac', keySpec: 'HMAC_256', keyUsage: 'GENERATE_VERIFY_MAC' };
  started.create({ ...signingKey, arn: signing, directory });
  started.create({ ...macKey, arn: mac, directory });
  return started;
}

beforeEach(async () => {
  kms = await startWithKeys();
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

it('signs by ARN or id, so that the public key verifies', async () => {
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

it('keeps keys in files that only their owner can read', async () => {
  const { Mac: before } = await client.send(generateMac(mac));
  expect(before).toHaveLength(32);
  const second = await startWithKeys();
  const other = new KMSClient(localClient(second.url));
  expect((await other.send(generateMac(mac))).Mac).toEqual(before);
  other.destroy();
  await second.close();
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  const files = readdirSync(folder()).sort();
  expect(files).toEqual(['Mac.json', 'Signing.json']);
  for (const file of files) expect(statSync(join(folder(), file)).mode & 0o777).toBe(0o600);
});

it('refuses a key of another kind than its file, and a kind that it does not have', () => {
  const key = { arn: signing, directory: folder(), keySpec: 'ECC_NIST_P256', keyUsage: 'SIGN_VERIFY' };
  expect(() => kms.create({ ...key, name: 'Mac' })).toThrow('holds a key of HMAC_256');
  expect(() => kms.create({ ...key, name: 'New', keySpec: 'RSA_2048' })).toThrow('not served');
});
