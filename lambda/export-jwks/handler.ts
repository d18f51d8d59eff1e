import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { bind } from '../shared/bind';
import { logCodes } from '../shared/log';
import { retryAccessDenied } from '../shared/retry-access-denied';
import { createDependencies, type Dependencies } from './dependencies';
import { type PublicJwk, toJwk } from './export-jwks';
import { type LabelledKey, readKeys } from './request';

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
