import { GetPublicKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { bind } from '../shared/bind';
import { createLog, logCodes } from '../shared/log';
import { retryAccessDenied } from '../shared/retry-access-denied';
import { type PublicJwk, toJwk } from './export-jwks';

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
      if (!PublicKey) throw new Error('KMS answered without a public key.');
      return PublicKey;
    },
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** A signing key of the set: its label in the environments table and its ARN. */
export interface LabelledKey {
  readonly label: string;
  readonly arn: string;
}

/**
 * Reads `Keys: [{ Label, Arn }]` of the custom resource.
 *
 * @throws Error when there is none, or one of them has no label or ARN.
 */
export function readKeys(properties: Readonly<Record<string, unknown>>): readonly LabelledKey[] {
  const keys = properties.Keys;
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('Keys must name at least one signing key.');
  return keys.map((key: { Label?: unknown; Arn?: unknown } | null) => {
    if (typeof key?.Label !== 'string' || typeof key.Arn !== 'string') {
      throw new Error('Each of Keys must have a Label and an Arn.');
    }
    return { label: key.Label, arn: key.Arn };
  });
}

/** Exports the public halves of a set of signing keys as a JWKS document, when the stack is created or the set changes. */
export const createHandler =
  ({ log, getPublicKey }: Dependencies) =>
  async (event: CloudFormationCustomResourceEvent) => {
    const PhysicalResourceId =
      event.RequestType === 'Create' ? `signing-keys-${event.LogicalResourceId}` : event.PhysicalResourceId;
    if (event.RequestType === 'Delete') return { PhysicalResourceId };
    const labelled = readKeys(event.ResourceProperties);
    const keys = await Promise.all(labelled.map((key) => exportKey(key, getPublicKey)));
    log.info('Keys exported', { logCode: logCodes.keysExported, labels: labelled.map(({ label }) => label) });
    return { PhysicalResourceId, Data: { Jwks: JSON.stringify({ keys }) } };
  };

async function exportKey(key: LabelledKey, getPublicKey: Dependencies['getPublicKey']): Promise<PublicJwk> {
  try {
    return toJwk(await retryAccessDenied(() => getPublicKey(key.arn)));
  } catch (error) {
    const { name, message } = error as Error;
    throw new Error(`The signing key '${key.label}' (${key.arn}) could not be exported: ${name}: ${message}`);
  }
}

export const handler = bind(createHandler, createDependencies);
