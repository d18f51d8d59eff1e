import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  AwsError,
  type AwsService,
  type JsonObject,
  jsonService,
  requireAllowed,
  requiredText,
} from '../network/aws-server';
import { type Authorize, allowEverything } from '../permissions/permissions';
import { readJson, writeJson } from '../state';

export interface NewKey {
  readonly arn: string;
  /** Where it is kept; only its owner may read it. */
  readonly directory: string;
  /** Names its file. */
  readonly name: string;
  readonly keySpec: string;
  readonly keyUsage: string;
}

/** A key as its file has it. */
interface StoredKey {
  readonly keySpec: string;
  readonly keyUsage: string;
  /** PKCS #8 in PEM for an elliptic curve, else base64. */
  readonly material: string;
}

export interface Kms {
  readonly serve: AwsService;
  /** Opens a key's file, or makes key and file. @throws Error for a kind of key that is not served, or not the file's */
  create(key: NewKey): void;
}

const usages: Readonly<Record<string, string>> = {
  ECC_NIST_P256: 'SIGN_VERIFY',
  HMAC_256: 'GENERATE_VERIFY_MAC',
  SYMMETRIC_DEFAULT: 'ENCRYPT_DECRYPT',
};

/** Bytes. https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html, API_GenerateMac.html */
const messageLimit = 4_096;

/** A small KMS: GetPublicKey, Sign (ECDSA_SHA_256) and GenerateMac (HMAC_SHA_256). Keys are found by ARN or id. */
export function createKms(authorize: Authorize = allowEverything): Kms {
  const keys = new Map<string, StoredKey>();

  /** The key of a call that is allowed. */
  function open(input: JsonObject, accessKeyId: string, operation: string, usage: string) {
    const id = requiredText(input, 'KeyId');
    const [arn, key] = [...keys].find(([arn]) => arn === id || arn.split('/').at(-1) === id) ?? [];
    if (!arn || !key) throw new AwsError('NotFoundException', `Key '${id}' does not exist`);
    requireAllowed(authorize({ accessKeyId, action: `kms:${operation}`, resource: arn }));
    if (key.keyUsage === usage) return { arn, ...key };
    const message = `${arn} key usage is ${key.keyUsage} which is not valid for ${operation}.`;
    throw new AwsError('InvalidKeyUsageException', message);
  }

  const serve = jsonService({
    GetPublicKey(input, accessKeyId) {
      const { arn, keySpec, keyUsage, material } = open(input, accessKeyId, 'GetPublicKey', 'SIGN_VERIFY');
      const key = createPublicKey(material).export({ type: 'spki', format: 'der' });
      const PublicKey = key.toString('base64');
      return { KeyId: arn, KeySpec: keySpec, KeyUsage: keyUsage, PublicKey };
    },
    Sign(input, accessKeyId) {
      const { arn, material } = open(input, accessKeyId, 'Sign', 'SIGN_VERIFY');
      requireOnly(input, 'SigningAlgorithm', 'ECDSA_SHA_256');
      requireOnly({ MessageType: 'RAW', ...input }, 'MessageType', 'RAW');
      const signature = sign('sha256', messageOf(input), createPrivateKey(material));
      return { KeyId: arn, Signature: signature.toString('base64'), SigningAlgorithm: 'ECDSA_SHA_256' };
    },
    GenerateMac(input, accessKeyId) {
      const { arn, material } = open(input, accessKeyId, 'GenerateMac', 'GENERATE_VERIFY_MAC');
      requireOnly(input, 'MacAlgorithm', 'HMAC_SHA_256');
      const mac = createHmac('sha256', Buffer.from(material, 'base64')).update(messageOf(input));
      return { KeyId: arn, Mac: mac.digest('base64'), MacAlgorithm: 'HMAC_SHA_256' };
    },
  });

  return { serve, create: (key) => void keys.set(key.arn, openFile(key)) };
}

function openFile({ arn, directory, name, keySpec, keyUsage }: NewKey): StoredKey {
  if (usages[keySpec] !== keyUsage) {
    throw new Error(`${arn}: keys of ${keySpec} for ${keyUsage} are not served on this machine`);
  }
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o700);
  const file = join(directory, `${name}.json`);
  const kept = readJson<StoredKey>(file);
  if (kept && kept.keySpec !== keySpec) {
    throw new Error(`${file} holds a key of ${kept.keySpec}, the template asks for ${keySpec}`);
  }
  if (kept) return kept;
  const material =
    keySpec === 'ECC_NIST_P256'
      ? toPem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
      : randomBytes(32).toString('base64');
  const key = { keySpec, keyUsage, material };
  writeJson(file, key);
  return key;
}

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

function requireOnly(input: JsonObject, name: string, only: string): void {
  const value = requiredText(input, name);
  if (value !== only)
    throw new AwsError('ValidationException', `${name} ${value} is not supported: ${only} is`);
}

function messageOf(input: JsonObject): Buffer {
  const message = Buffer.from(requiredText(input, 'Message'), 'base64');
  if (message.length <= messageLimit) return message;
  throw new AwsError('ValidationException', `Message is longer than ${messageLimit} bytes`);
}
