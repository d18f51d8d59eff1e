import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AwsError } from '../services/aws-json';
import { readJson, writeJson } from '../state';

export type KeySpec = 'ECC_NIST_P256' | 'HMAC_256' | 'SYMMETRIC_DEFAULT';
export type KeyUsage = 'SIGN_VERIFY' | 'GENERATE_VERIFY_MAC' | 'ENCRYPT_DECRYPT';

export interface NewKey {
  readonly arn: string;
  /** Where it is kept; only its owner may read it. */
  readonly directory: string;
  /** Names its file. */
  readonly name: string;
  readonly keySpec: string;
  readonly keyUsage: string;
}

export interface KmsKey {
  readonly arn: string;
  readonly keySpec: KeySpec;
  readonly keyUsage: KeyUsage;
  /** Seconds since 1970. */
  readonly created: number;
  /** PKCS #8 in PEM for an elliptic curve, else base64. */
  readonly material: string;
}

const usageOf: Readonly<Record<KeySpec, KeyUsage>> = {
  ECC_NIST_P256: 'SIGN_VERIFY',
  HMAC_256: 'GENERATE_VERIFY_MAC',
  SYMMETRIC_DEFAULT: 'ENCRYPT_DECRYPT',
};

/**
 * Opens a key's file, or makes key and file when there is none.
 *
 * @throws Error for a kind of key that is not served here, and when the file holds another kind of key
 */
export function openKey({ arn, directory, name, keySpec, keyUsage }: NewKey): KmsKey {
  if (!isKeySpec(keySpec) || usageOf[keySpec] !== keyUsage) {
    throw new Error(`${arn}: keys of ${keySpec} for ${keyUsage} are not served on this machine`);
  }
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o700);
  const file = join(directory, `${name}.json`);
  const kept = readJson<KmsKey>(file);
  if (kept && kept.keySpec !== keySpec) {
    throw new Error(`${file} holds a key of ${kept.keySpec}, the template asks for ${keySpec}`);
  }
  if (kept) return { ...kept, arn };
  const key: KmsKey = {
    arn,
    keySpec,
    keyUsage: usageOf[keySpec],
    created: Math.floor(Date.now() / 1_000),
    material: newMaterial(keySpec),
  };
  writeJson(file, key);
  return key;
}

function isKeySpec(value: string): value is KeySpec {
  return Object.hasOwn(usageOf, value);
}

function newMaterial(keySpec: KeySpec): string {
  if (keySpec !== 'ECC_NIST_P256') return randomBytes(32).toString('base64');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** Refuses a key for another usage, in KMS's words. */
export function requireUsage(key: KmsKey, usage: KeyUsage, operation: string): void {
  if (key.keyUsage === usage) return;
  throw new AwsError(
    'InvalidKeyUsageException',
    `${key.arn} key usage is ${key.keyUsage} which is not valid for ${operation}.`,
  );
}
