import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  DescribeKeyCommand,
  GenerateMacCommand,
  GetPublicKeyCommand,
  KMSClient,
  ListKeysCommand,
  SignCommand,
  VerifyMacCommand,
} from '@aws-sdk/client-kms';
import { type Kms, startKms } from '../../../local/kms/server';
import { localClient } from '../../support/aws-client';
import { temporaryFolder } from '../../support/temporary-folder';

const keyArn = (id: string) => `arn:aws:kms:eu-central-1:000000000000:key/${id}`;
const signing = keyArn('11111111-0000-0000-0000-000000000000');
const mac = keyArn('22222222-0000-0000-0000-000000000000');
const encryption = keyArn('33333333-0000-0000-0000-000000000000');

const folder = temporaryFolder();
let kms: Kms;
let client: KMSClient;

async function startWithKeys(): Promise<Kms> {
  const started = await startKms();
  const directory = folder();
  for (const key of [
    { arn: signing, name: 'Signing', keySpec: 'ECC_NIST_P256', keyUsage: 'SIGN_VERIFY' },
    { arn: mac, name: 'Mac', keySpec: 'HMAC_256', keyUsage: 'GENERATE_VERIFY_MAC' },
    { arn: encryption, name: 'Encryption', keySpec: 'SYMMETRIC_DEFAULT', keyUsage: 'ENCRYPT_DECRYPT' },
  ]) {
    started.create({ ...key, directory });
  }
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

async function publicKey(from: KMSClient, KeyId: string) {
  const { PublicKey } = await from.send(new GetPublicKeyCommand({ KeyId }));
  return createPublicKey({ key: Buffer.from(PublicKey as Uint8Array), type: 'spki', format: 'der' });
}

test.each(['RAW', 'DIGEST'] as const)(
  'a signature over a %s message verifies with the public key',
  async (type) => {
    const key = await publicKey(client, signing);
    for (let i = 0; i < 50; i += 1) {
      const message = randomBytes(i * 10 + 1);
      const { Signature, KeyId } = await client.send(
        new SignCommand({
          KeyId: signing.split('/')[1],
          Message: type === 'RAW' ? message : createHash('sha256').update(message).digest(),
          MessageType: type,
          SigningAlgorithm: 'ECDSA_SHA_256',
        }),
      );
      expect(KeyId).toBe(signing);
      expect(verify('sha256', message, key, Signature as Uint8Array)).toBe(true);
      expect(verify('sha256', Buffer.concat([message, message]), key, Signature as Uint8Array)).toBe(false);
    }
  },
);

test('a MAC verifies for its message and key, and for no other', async () => {
  const Message = Buffer.from('message');
  const command = { KeyId: mac, Message, MacAlgorithm: 'HMAC_SHA_256' } as const;
  const { Mac } = await client.send(new GenerateMacCommand(command));
  expect(Mac).toHaveLength(32);
  expect((await client.send(new GenerateMacCommand(command))).Mac).toEqual(Mac);
  const check = (message: Buffer) => client.send(new VerifyMacCommand({ ...command, Message: message, Mac }));
  expect(await check(Message)).toMatchObject({ KeyId: mac, MacValid: true });
  await expect(check(Buffer.from('other'))).rejects.toMatchObject({ name: 'KMSInvalidMacException' });
});

test('a key is described', async () => {
  const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId: mac }));
  expect(KeyMetadata).toMatchObject({
    Arn: mac,
    KeyId: mac.split('/')[1],
    AWSAccountId: '000000000000',
    Enabled: true,
    KeyState: 'Enabled',
    KeySpec: 'HMAC_256',
    KeyUsage: 'GENERATE_VERIFY_MAC',
    MacAlgorithms: ['HMAC_SHA_256'],
    CreationDate: expect.any(Date),
  });
});

const sign = (KeyId: string, more: object = {}) =>
  new SignCommand({ KeyId, Message: Buffer.from('m'), SigningAlgorithm: 'ECDSA_SHA_256', ...more });

test.each([
  ['an unknown key', sign(keyArn('none')), 'NotFoundException'],
  ['a key for MACs', sign(mac), 'InvalidKeyUsageException'],
  [
    'another algorithm',
    sign(signing, { SigningAlgorithm: 'RSASSA_PSS_SHA_256' }),
    'InvalidKeyUsageException',
  ],
  ['a digest of another length', sign(signing, { MessageType: 'DIGEST' }), 'ValidationException'],
  ['a message of more than 4 KiB', sign(signing, { Message: Buffer.alloc(4_097) }), 'ValidationException'],
  ['no message', sign(signing, { Message: undefined }), 'ValidationException'],
  [
    'a MAC from a signing key',
    new GenerateMacCommand({ KeyId: signing, Message: Buffer.from('m'), MacAlgorithm: 'HMAC_SHA_256' }),
    'InvalidKeyUsageException',
  ],
  [
    'the public half of a symmetric key',
    new GetPublicKeyCommand({ KeyId: mac }),
    'UnsupportedOperationException',
  ],
  ['an operation that is not served', new ListKeysCommand({}), 'UnknownOperationException'],
])('%s is refused by its documented name', async (_, command, name) => {
  await expect(client.send(command as SignCommand)).rejects.toMatchObject({ name });
});

test('a disabled key refuses its use, and says so when described', async () => {
  kms.setEnabled(signing, false);
  await expect(client.send(sign(signing))).rejects.toMatchObject({ name: 'DisabledException' });
  const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId: signing }));
  expect(KeyMetadata).toMatchObject({ Enabled: false, KeyState: 'Disabled' });
  kms.setEnabled(signing, true);
  expect(await client.send(sign(signing))).toHaveProperty('Signature');
});

test('keys outlive the server, in files that only their owner can read', async () => {
  const before = await publicKey(client, signing);
  const second = await startWithKeys();
  const other = new KMSClient(localClient(second.url));
  try {
    expect((await publicKey(other, signing)).equals(before)).toBe(true);
  } finally {
    other.destroy();
    await second.close();
  }
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  const files = readdirSync(folder());
  expect(files.sort()).toEqual(['Encryption.json', 'Mac.json', 'Signing.json']);
  for (const file of files) expect(statSync(join(folder(), file)).mode & 0o777).toBe(0o600);
});

test('a key of another kind than its file, and a kind that is not served, are refused', () => {
  const key = {
    arn: signing,
    directory: folder(),
    name: 'Mac',
    keySpec: 'ECC_NIST_P256',
    keyUsage: 'SIGN_VERIFY',
  };
  expect(() => kms.create(key)).toThrow('holds a key of HMAC_256');
  expect(() => kms.create({ ...key, name: 'New', keySpec: 'RSA_2048' })).toThrow('not served');
});
