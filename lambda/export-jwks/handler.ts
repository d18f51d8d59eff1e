import { createPublicKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetPublicKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { thumbprint } from '../../domain/tokens';
import { bindDependencies } from '../shared/bind-dependencies';
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
    const labelled: readonly LabelledKey[] = event.ResourceProperties.Keys;
    const keys = await Promise.all(labelled.map(exportKey));
    log.info('Keys exported', { logCode: logCodes.keysExported, labels: labelled.map(({ Label }) => Label) });
    return { PhysicalResourceId, Data: { Jwks: JSON.stringify({ keys }) } };

    async function exportKey({ Label, Arn }: LabelledKey): Promise<PublicJwk> {
      try {
        return toJwk(await getGrantedKey(Arn));
      } catch (error) {
        const { name, message } = error as Error;
        throw new Error(`The signing key '${Label}' (${Arn}) could not be exported: ${name}: ${message}`);
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
  readonly Label: string;
  readonly Arn: string;
}

/** A public key for ES256 signatures, in DER as KMS returns it, as a JWK (RFC 7517). @throws Error if it is not on P-256 */
export function toJwk(subjectPublicKeyInfo: Uint8Array) {
  const key = createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: 'der', type: 'spki' });
  const { kty, crv, x, y } = key.export({ format: 'jwk' });
  if (kty !== 'EC' || crv !== 'P-256' || !x || !y) {
    throw new Error(`The key is ${kty ?? 'unknown'} on ${crv ?? 'no curve'}: ES256 needs EC on P-256.`);
  }
  return { kty, crv, x, y, alg: 'ES256', use: 'sig', kid: thumbprint({ kty, crv, x, y }) };
}

export type PublicJwk = ReturnType<typeof toJwk>;

export const handler = bindDependencies(createHandler, createDependencies);
