import { createPublicKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetPublicKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { thumbprint } from '../../domain/tokens';
import { bind } from '../shared/bind';
import { createLog, logCodes } from '../shared/log';

export function createDependencies() {
  const kms = new KMSClient({
    maxAttempts: 5,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return {
    log: createLog('export-jwks'),
    /** DER SubjectPublicKeyInfo. */
    async getPublicKey(arn: string): Promise<Uint8Array> {
      const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: arn }));
      if (!PublicKey) throw new Error('KMS returned no public key.');
      return PublicKey;
    },
    pause: sleep as (milliseconds: number) => Promise<unknown>,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** Exports the public keys of a set of signing keys as a JWKS document when the stack is created or the set changes. */
export const createHandler =
  ({ log, getPublicKey, pause }: Dependencies) =>
  async (event: CloudFormationCustomResourceEvent) => {
    const PhysicalResourceId =
      event.RequestType === 'Create' ? `signing-keys-${event.LogicalResourceId}` : event.PhysicalResourceId;
    if (event.RequestType === 'Delete') return { PhysicalResourceId };
    const labelled = readKeys(event.ResourceProperties);
    const keys = await Promise.all(labelled.map(exportKey));
    log.info('Keys exported', { logCode: logCodes.keysExported, labels: labelled.map(({ label }) => label) });
    return { PhysicalResourceId, Data: { Jwks: JSON.stringify({ keys }) } };

    async function exportKey({ label, arn }: LabelledKey): Promise<PublicJwk> {
      try {
        return toJwk(await getGrantedKey(arn));
      } catch (error) {
        const { name, message } = error as Error;
        throw new Error(`The signing key '${label}' (${arn}) could not be exported: ${name}: ${message}`);
      }
    }

    /**
     * Retries for 30 s while access is denied: this runs seconds after CloudFormation changed the function's policy.
     * https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
     */
    async function getGrantedKey(arn: string, retries = 15): Promise<Uint8Array> {
      try {
        return await getPublicKey(arn);
      } catch (error) {
        if ((error as Error).name !== 'AccessDeniedException' || retries === 0) throw error;
        await pause(2_000);
        return getGrantedKey(arn, retries - 1);
      }
    }
  };

/** A signing key of the set: its label in the environments table and its ARN. */
interface LabelledKey {
  readonly label: string;
  readonly arn: string;
}

/**
 * Reads `Keys: [{ Label, Arn }]` of the custom resource.
 *
 * @throws Error if `Keys` is empty, or one of them has no label or ARN.
 */
function readKeys(properties: Readonly<Record<string, unknown>>): readonly LabelledKey[] {
  const keys = properties.Keys;
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('Keys must name at least one signing key.');
  return keys.map((key: { Label?: unknown; Arn?: unknown } | null) => {
    if (typeof key?.Label !== 'string' || typeof key.Arn !== 'string') {
      throw new Error('Each of Keys must have a Label and an Arn.');
    }
    return { label: key.Label, arn: key.Arn };
  });
}

/** A public key for ES256 signatures as a JWK (RFC 7517). `kid` is the key's RFC 7638 thumbprint. */
export type PublicJwk = {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
  readonly kid: string;
};

/**
 * @param subjectPublicKeyInfo DER, as returned by KMS.
 * @throws Error when the key is not on the curve P-256.
 */
export function toJwk(subjectPublicKeyInfo: Uint8Array): PublicJwk {
  const key = createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: 'der', type: 'spki' });
  const { kty, crv, x, y } = key.export({ format: 'jwk' });
  if (kty !== 'EC' || crv !== 'P-256' || !x || !y) {
    throw new Error(`The key is ${kty ?? 'unknown'} on ${crv ?? 'no curve'}: ES256 needs EC on P-256.`);
  }
  return { kty, crv, x, y, alg: 'ES256', use: 'sig', kid: thumbprint({ kty, crv, x, y }) };
}

export const handler = bind(createHandler, createDependencies);
