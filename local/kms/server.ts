import { createHmac, createPrivateKey, createPublicKey, sign, timingSafeEqual } from 'node:crypto';
import type { LoopbackServer } from '../network/loopback-server';
import { type Authorize, allowEverything } from '../permissions/permissions';
import {
  AwsError,
  type JsonObject,
  requireAllowed,
  requiredText,
  startAwsJsonServer,
} from '../services/aws-json';
import { signDigest } from './ecdsa-digest';
import { type KmsKey, type NewKey, openKey, requireUsage } from './keys';

export interface Kms extends LoopbackServer {
  /** Opens a key's file, or creates key and file. @throws Error for a kind of key that is not served */
  create(key: NewKey): void;
  /** A disabled key refuses every use. */
  setEnabled(arn: string, enabled: boolean): void;
}

/** Bytes of a message: https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html, API_GenerateMac.html */
const MESSAGE_LIMIT = 4_096;
const DIGEST_LENGTH = 32;

/**
 * A small KMS for the real SDK: GetPublicKey, Sign (ECDSA_SHA_256), GenerateMac, VerifyMac (HMAC_SHA_256) and
 * DescribeKey, with the documented errors. Keys are found by ARN or id.
 * https://docs.aws.amazon.com/kms/latest/APIReference/Welcome.html
 */
export async function startKms(authorize: Authorize = allowEverything): Promise<Kms> {
  const keys = new Map<string, KmsKey>();
  const disabled = new Set<string>();

  function find(input: JsonObject): KmsKey {
    const id = requiredText(input, 'KeyId');
    const key = [...keys.values()].find(({ arn }) => arn === id || arn.split('/').at(-1) === id);
    if (!key) throw new AwsError('NotFoundException', `Key '${id}' does not exist`);
    return key;
  }

  function findEnabled(input: JsonObject): KmsKey {
    const key = find(input);
    if (disabled.has(key.arn)) throw new AwsError('DisabledException', `${key.arn} is disabled.`);
    return key;
  }

  const operations: Readonly<Record<string, (input: JsonObject) => JsonObject>> = {
    DescribeKey: (input) => {
      const key = find(input);
      return { KeyMetadata: describe(key, !disabled.has(key.arn)) };
    },
    GetPublicKey: (input) => getPublicKey(findEnabled(input)),
    Sign: (input) => signMessage(findEnabled(input), input),
    GenerateMac: (input) => {
      const key = findEnabled(input);
      return {
        KeyId: key.arn,
        Mac: mac(key, input, 'GenerateMac').toString('base64'),
        MacAlgorithm: 'HMAC_SHA_256',
      };
    },
    VerifyMac: (input) => {
      const key = findEnabled(input);
      const expected = mac(key, input, 'VerifyMac');
      const given = Buffer.from(requiredText(input, 'Mac'), 'base64');
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw new AwsError('KMSInvalidMacException', 'The HMAC is not valid for this message and key.');
      }
      return { KeyId: key.arn, MacValid: true, MacAlgorithm: 'HMAC_SHA_256' };
    },
  };
  const server = await startAwsJsonServer({
    targetPrefix: 'TrentService',
    operations: Object.fromEntries(
      Object.entries(operations).map(([name, operation]) => [
        name,
        (input: JsonObject, accessKeyId: string) => {
          requireAllowed(authorize({ accessKeyId, action: `kms:${name}`, resource: find(input).arn }));
          return operation(input);
        },
      ]),
    ),
  });

  return {
    ...server,
    create: (key) => void keys.set(key.arn, openKey(key)),
    setEnabled: (arn, enabled) => void (enabled ? disabled.delete(arn) : disabled.add(arn)),
  };
}

function describe({ arn, keySpec, keyUsage, created }: KmsKey, enabled: boolean): JsonObject {
  return {
    AWSAccountId: arn.split(':')[4],
    Arn: arn,
    KeyId: arn.split('/').at(-1),
    CreationDate: created,
    Description: '',
    Enabled: enabled,
    KeyState: enabled ? 'Enabled' : 'Disabled',
    KeySpec: keySpec,
    CustomerMasterKeySpec: keySpec,
    KeyUsage: keyUsage,
    KeyManager: 'CUSTOMER',
    Origin: 'AWS_KMS',
    MultiRegion: false,
    ...(keyUsage === 'SIGN_VERIFY' && { SigningAlgorithms: ['ECDSA_SHA_256'] }),
    ...(keyUsage === 'GENERATE_VERIFY_MAC' && { MacAlgorithms: ['HMAC_SHA_256'] }),
    ...(keyUsage === 'ENCRYPT_DECRYPT' && { EncryptionAlgorithms: ['SYMMETRIC_DEFAULT'] }),
  };
}

function getPublicKey(key: KmsKey): JsonObject {
  if (key.keySpec !== 'ECC_NIST_P256') {
    throw new AwsError('UnsupportedOperationException', `${key.arn} is not an asymmetric key.`);
  }
  const der = createPublicKey(key.material).export({ type: 'spki', format: 'der' });
  return {
    KeyId: key.arn,
    KeySpec: key.keySpec,
    CustomerMasterKeySpec: key.keySpec,
    KeyUsage: key.keyUsage,
    SigningAlgorithms: ['ECDSA_SHA_256'],
    PublicKey: der.toString('base64'),
  };
}

function signMessage(key: KmsKey, input: JsonObject): JsonObject {
  requireUsage(key, 'SIGN_VERIFY', 'Sign');
  requireAlgorithm(key, requiredText(input, 'SigningAlgorithm'), 'ECDSA_SHA_256');
  const message = messageOf(input);
  const privateKey = createPrivateKey(key.material);
  const type = input.MessageType ?? 'RAW';
  if (type !== 'RAW' && type !== 'DIGEST') {
    throw new AwsError('ValidationException', `MessageType ${type} is not one of RAW and DIGEST`);
  }
  if (type === 'DIGEST' && message.length !== DIGEST_LENGTH) {
    throw new AwsError('ValidationException', 'Digest is invalid length for algorithm ECDSA_SHA_256.');
  }
  const signature = type === 'DIGEST' ? signDigest(message, privateKey) : sign('sha256', message, privateKey);
  return { KeyId: key.arn, Signature: signature.toString('base64'), SigningAlgorithm: 'ECDSA_SHA_256' };
}

function mac(key: KmsKey, input: JsonObject, operation: string): Buffer {
  requireUsage(key, 'GENERATE_VERIFY_MAC', operation);
  requireAlgorithm(key, requiredText(input, 'MacAlgorithm'), 'HMAC_SHA_256');
  return createHmac('sha256', Buffer.from(key.material, 'base64')).update(messageOf(input)).digest();
}

function requireAlgorithm({ keySpec }: KmsKey, algorithm: string, only: string): void {
  if (algorithm === only) return;
  throw new AwsError(
    'InvalidKeyUsageException',
    `Algorithm ${algorithm} is incompatible with key spec ${keySpec}.`,
  );
}

function messageOf(input: JsonObject): Buffer {
  const message = Buffer.from(requiredText(input, 'Message'), 'base64');
  if (message.length <= MESSAGE_LIMIT) return message;
  throw new AwsError('ValidationException', `Message is longer than ${MESSAGE_LIMIT} bytes`);
}
