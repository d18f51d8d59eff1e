import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto';
import { join } from 'node:path';
import { type Authorize, allowEverything } from '../permissions/permissions';
import { readJson, writeJson } from '../state';
import { AwsError, type JsonObject, requireAllowed, requiredText, serveOperations } from './aws-server';

export interface NewKey {
  readonly arn: string;
  /** Folder of the key's file. */
  readonly directory: string;
  /** Its file name. */
  readonly name: string;
  readonly keySpec: string;
  readonly keyUsage: string;
}

/** The content of a key's file. */
interface StoredKey {
  readonly keySpec: string;
  readonly keyUsage: string;
  /** PKCS #8 in PEM for an elliptic curve, else base64. */
  readonly material: string;
}

const usages: Readonly<Record<string, string>> = {
  ECC_NIST_P256: 'SIGN_VERIFY',
  HMAC_256: 'GENERATE_VERIFY_MAC',
  SYMMETRIC_DEFAULT: 'ENCRYPT_DECRYPT',
};

/** Bytes. https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html, API_GenerateMac.html */
const messageLimit = 4_096;

export type Kms = ReturnType<typeof createKms>;

/** A minimal KMS: GetPublicKey, Sign (ECDSA_SHA_256) and GenerateMac (HMAC_SHA_256), by key ARN or id. */
export function createKms(authorize: Authorize = allowEverything) {
  const keys = new Map<string, StoredKey>();

  /** @throws AwsError if the key does not exist, or does not allow the caller or the operation */
  function find(input: JsonObject, accessKeyId: string, operation: string, usage: string) {
    const id = requiredText(input, 'KeyId');
    const [arn, key] = [...keys].find(([arn]) => arn === id || arn.split('/').at(-1) === id) ?? [];
    if (!arn || !key) throw new AwsError('NotFoundException', `Key '${id}' does not exist`);
    requireAllowed(authorize({ accessKeyId, action: `kms:${operation}`, resource: arn }));
    if (key.keyUsage === usage) return { arn, ...key };
    const message = `${arn} key usage is ${key.keyUsage} which is not valid for ${operation}.`;
    throw new AwsError('InvalidKeyUsageException', message);
  }

  return {
    serve: serveOperations({
      GetPublicKey(input, accessKeyId) {
        const { arn, keySpec, keyUsage, material } = find(input, accessKeyId, 'GetPublicKey', 'SIGN_VERIFY');
        const key = createPublicKey(material).export({ type: 'spki', format: 'der' });
        return { KeyId: arn, KeySpec: keySpec, KeyUsage: keyUsage, PublicKey: key.toString('base64') };
      },
      Sign(input, accessKeyId) {
        const { arn, material } = find(input, accessKeyId, 'Sign', 'SIGN_VERIFY');
        requireValue(input, 'SigningAlgorithm', 'ECDSA_SHA_256');
        requireValue({ MessageType: 'RAW', ...input }, 'MessageType', 'RAW');
        const signature = sign('sha256', messageOf(input), createPrivateKey(material));
        return { KeyId: arn, Signature: signature.toString('base64'), SigningAlgorithm: 'ECDSA_SHA_256' };
      },
      GenerateMac(input, accessKeyId) {
        const { arn, material } = find(input, accessKeyId, 'GenerateMac', 'GENERATE_VERIFY_MAC');
        requireValue(input, 'MacAlgorithm', 'HMAC_SHA_256');
        const mac = createHmac('sha256', Buffer.from(material, 'base64')).update(messageOf(input));
        return { KeyId: arn, Mac: mac.digest('base64'), MacAlgorithm: 'HMAC_SHA_256' };
      },
    }),
    /** Loads or creates a key. @throws Error for an unsupported kind of key, or if the file's kind differs */
    create(key: NewKey): void {
      keys.set(key.arn, openFile(key));
    },
  };
}

function openFile({ arn, directory, name, keySpec, keyUsage }: NewKey): StoredKey {
  if (usages[keySpec] !== keyUsage) {
    throw new Error(`${arn}: keys of ${keySpec} for ${keyUsage} are not supported on this machine`);
  }
  const file = join(directory, `${name}.json`);
  const stored = readJson<StoredKey>(file);
  if (stored && stored.keySpec !== keySpec) {
    throw new Error(`${file} contains a key of ${stored.keySpec}, but the template requires ${keySpec}`);
  }
  if (stored) return stored;
  const key = { keySpec, keyUsage, material: generateMaterial(keySpec) };
  writeJson(file, key);
  return key;
}

function generateMaterial(keySpec: string): string {
  if (keySpec !== 'ECC_NIST_P256') return randomBytes(32).toString('base64');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

function requireValue(input: JsonObject, name: string, supported: string): void {
  const value = requiredText(input, name);
  if (value === supported) return;
  throw new AwsError('ValidationException', `${name} ${value} is not supported: ${supported} is`);
}

function messageOf(input: JsonObject): Buffer {
  const message = Buffer.from(requiredText(input, 'Message'), 'base64');
  if (message.length <= messageLimit) return message;
  throw new AwsError('ValidationException', `Message is longer than ${messageLimit} bytes`);
}
