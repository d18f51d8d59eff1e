import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { thumbprint } from '../domain/tokens';
import { callAws } from './aws';
import { joseSignature } from './elliptic-signature';
import { CommandFailed } from './failure';
import type { Target } from './target';

/** One of a region's signing keys. The private half never leaves KMS. */
export interface SigningKey {
  /** The key's RFC 7638 thumbprint, under which the region's functions know it. */
  readonly id: string;
  /** Signs a token's claims with ES256; `type` is the header's `typ`. */
  sign(type: string, claims: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Opens a key by its ARN. Needs `kms:GetPublicKey` and `kms:Sign` on it. */
export async function openSigningKey(target: Target, keyArn: string): Promise<SigningKey> {
  const { GetPublicKeyCommand, KMSClient, SignCommand } = await import('@aws-sdk/client-kms');
  const client = new KMSClient(target.clientSettings('kms'));
  const { PublicKey } = await callAws(target, 'kms:GetPublicKey', (options) =>
    client.send(new GetPublicKeyCommand({ KeyId: keyArn }), options),
  );
  const publicKey = readPublicKey(PublicKey, keyArn);
  const id = thumbprint(publicKey.export({ format: 'jwk' }));
  return {
    id,
    sign: async (type, claims) => {
      const content = `${encode({ alg: 'ES256', kid: id, typ: type })}.${encode(claims)}`;
      const message = {
        KeyId: keyArn,
        Message: Buffer.from(content),
        MessageType: 'RAW',
        SigningAlgorithm: 'ECDSA_SHA_256',
      } as const;
      const { Signature } = await callAws(target, 'kms:Sign', (options) =>
        client.send(new SignCommand(message), options),
      );
      const signature = joseSignature(Signature ?? new Uint8Array());
      assertValid(content, signature, publicKey, keyArn);
      return `${content}.${signature.toString('base64url')}`;
    },
  };
}

function readPublicKey(der: Uint8Array | undefined, keyArn: string): KeyObject {
  const key = parsePublicKey(der);
  if (key?.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new CommandFailed(
      `${keyArn} is not a key of curve P-256 (ECC_NIST_P256).`,
      'Check the outputs file.',
    );
  }
  return key;
}

function parsePublicKey(der: Uint8Array | undefined): KeyObject | undefined {
  try {
    return der && createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** Refuses a signature that the region would refuse, malformed ones included. */
function assertValid(content: string, signature: Buffer, key: KeyObject, keyArn: string): void {
  if (!verify('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }, signature)) {
    throw new CommandFailed(`The signature that ${keyArn} made does not verify with its own public key.`);
  }
}

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
