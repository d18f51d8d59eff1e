import { createHmac, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson } from '../../state/json';
import { AwsError, type JsonObject, requireAllowed, requiredText, serveOperations } from '../aws-server';
import { type Authorize, allowEverything } from '../iam/permissions';

/** A key's file has the name of its id, which a primary and its replicas share, as they share the material. */
interface KeyFile {
  readonly arn: string;
  /** Folder of the key's file. */
  readonly directory: string;
  /** @default - an adopted key: no resource of the template */
  readonly logicalId?: string;
}

interface NewKey extends KeyFile {
  readonly keySpec: string;
  readonly keyUsage: string;
  /** Its ARN on AWS, as the row records it: a second id, under which its replicas find the material. @default - not recorded */
  readonly recordedArn?: string | undefined;
}

/** The content of a key's file. */
interface StoredKey {
  readonly keySpec: string;
  readonly keyUsage: string;
  /** PKCS #8 in PEM for an elliptic curve, else base64. */
  readonly material: string;
}

/** The supported specs, each with its usage. */
const usages: Readonly<Record<string, string>> = {
  ECC_NIST_P256: 'SIGN_VERIFY',
  HMAC_256: 'GENERATE_VERIFY_MAC',
  SYMMETRIC_DEFAULT: 'ENCRYPT_DECRYPT',
};

export type Kms = ReturnType<typeof createKms>;

/** A minimal KMS: GetPublicKey, Sign (ECDSA_SHA_256) and GenerateMac (HMAC_SHA_256), by key ARN or id. */
export function createKms(authorize: Authorize = allowEverything) {
  /** Keyed by ARN. A key whose primary is not on this machine is made when first used. */
  const keys = new Map<string, (keyUsage: string) => StoredKey>();

  /** @throws AwsError if the key does not exist, or does not allow the caller or the operation */
  function find(input: JsonObject, accessKeyId: string, operation: string, usage: string) {
    const id = requiredText(input, 'KeyId');
    const [arn, open] = [...keys].find(([arn]) => arn === id || arn.split('/').at(-1) === id) ?? [];
    if (!arn || !open) throw new AwsError('NotFoundException', `Key '${id}' does not exist`);
    requireAllowed(authorize({ accessKeyId, action: `kms:${operation}`, resource: arn }));
    const key = open(usage);
    if (key.keyUsage === usage) return { KeyId: arn, ...key };
    const message = `${arn} key usage is ${key.keyUsage} which is not valid for ${operation}.`;
    throw new AwsError('InvalidKeyUsageException', message);
  }

  return {
    serve: serveOperations({
      GetPublicKey(input, accessKeyId) {
        const { KeyId, ...key } = find(input, accessKeyId, 'GetPublicKey', 'SIGN_VERIFY');
        const publicKey = createPublicKey(key.material).export({ type: 'spki', format: 'der' });
        const PublicKey = publicKey.toString('base64');
        return { KeyId, KeySpec: key.keySpec, KeyUsage: key.keyUsage, PublicKey };
      },
      Sign(input, accessKeyId) {
        const { KeyId, material } = find(input, accessKeyId, 'Sign', 'SIGN_VERIFY');
        const SigningAlgorithm = requireValue(input, 'SigningAlgorithm', 'ECDSA_SHA_256');
        requireValue({ MessageType: 'RAW', ...input }, 'MessageType', 'RAW');
        const signature = sign('sha256', messageOf(input), material);
        return { KeyId, Signature: signature.toString('base64'), SigningAlgorithm };
      },
      GenerateMac(input, accessKeyId) {
        const { KeyId, material } = find(input, accessKeyId, 'GenerateMac', 'GENERATE_VERIFY_MAC');
        const MacAlgorithm = requireValue(input, 'MacAlgorithm', 'HMAC_SHA_256');
        const mac = createHmac('sha256', Buffer.from(material, 'base64')).update(messageOf(input));
        return { KeyId, Mac: mac.digest('base64'), MacAlgorithm };
      },
    }),
    /** Loads or creates a key. @returns a function that unloads it @throws Error for an unsupported kind of key */
    create(newKey: NewKey): () => void {
      const { arn, keySpec, keyUsage } = newKey;
      if (usages[keySpec] !== keyUsage) {
        throw new Error(`${arn}: keys of ${keySpec} for ${keyUsage} are not supported on this machine`);
      }
      copyFormer(newKey);
      const key = provide(newKey);
      keys.set(arn, () => key);
      return () => keys.delete(arn);
    },
    /** Opens a replica or an adopted key. */
    share(file: KeyFile): () => void {
      copyFormer(file);
      let key: StoredKey | undefined;
      keys.set(file.arn, (keyUsage) => {
        const [keySpec = ''] = Object.entries(usages).find(([, usage]) => usage === keyUsage) ?? [];
        key ??= provide({ ...file, keySpec, keyUsage });
        return key;
      });
      return () => keys.delete(file.arn);
    },
  };
}

function provide({ arn, recordedArn = arn, directory, keySpec, keyUsage }: NewKey): StoredKey {
  const files = [arn, recordedArn].map((each) => pathOf(directory, each));
  const [stored] = files.flatMap((each) => readJson<StoredKey>(each) ?? []);
  const key = stored ?? { keySpec, keyUsage, material: generateMaterial(keySpec) };
  for (const each of files) if (!existsSync(each)) writeJson(each, key);
  return key;
}

const pathOf = (directory: string, arn: string): string => join(directory, `${arn.split('/').at(-1)}.json`);

/**
 * An older state has a key's file under its logical id: the first key that looks for it gets a copy, and no other one. The release before,
 * started again on this state, finds its file.
 */
function copyFormer({ arn, directory, logicalId }: KeyFile): void {
  if (logicalId === undefined) return;
  const former = pathOf(directory, logicalId);
  const file = pathOf(directory, arn);
  if (!existsSync(former) || existsSync(file)) return;
  const text = readFileSync(former, 'utf8');
  const others = readdirSync(directory).map((name) => join(directory, name));
  if (others.every((other) => other === former || readFileSync(other, 'utf8') !== text))
    copyFileSync(former, file);
}

function generateMaterial(keySpec: string): string {
  if (keySpec !== 'ECC_NIST_P256') return randomBytes(32).toString('base64');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

function requireValue(input: JsonObject, name: string, supported: string): string {
  if (requiredText(input, name) === supported) return supported;
  throw new AwsError('ValidationException', `${name} ${input[name]} is not supported: ${supported} is`);
}

const messageOf = (input: JsonObject) => Buffer.from(requiredText(input, 'Message'), 'base64');
