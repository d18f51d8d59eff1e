import { accessTokenClaims, type SigningKey, signJwt } from '../../support/tokens';
import { signingKeyArn } from '../world/keys';
import { deletionEvent } from './deletion-event';
import { deliveryBatch, queueBatch, walletEvent } from './delivery-batch';
import { callerId, organizationId } from './fill';

// biome-ignore lint/suspicious/noExplicitAny: the answers of all functions differ in shape
type Answer = any;

export interface FirstEvent {
  /** Made for each process: a user action is used once. */
  event(): unknown;
  isExpected(answer: Answer): boolean;
}

const nothingKept = (answer: Answer) => answer.batchItemFailures.length === 0;

/** An event for every use case, and how its answer is told from a failure. */
export const firstEvents = (key: SigningKey, webhookId: string) =>
  ({
    'authorize-request': {
      event: () => {
        const token = signJwt(key, accessTokenClaims({ sub: callerId(0), org: organizationId(0) }));
        return {
          type: 'REQUEST',
          methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:api/v1/GET/',
          headers: { Authorization: `Bearer ${token}` },
          requestContext: { extendedRequestId: 'request-1' },
        };
      },
      isExpected: (answer) => answer.policyDocument.Statement[0].Effect === 'Allow',
    },
    'serve-dashboard': {
      event: () => ({}),
      isExpected: (answer) => answer.statusCode === 200,
    },
    'delete-user-group': {
      // Not there: the statement is the same, and no two processes need different groups.
      event: () => deletionEvent(key, 0, 'ug-zzzzz-zzzzz-zzzzzzzzzzzzzzzz'),
      isExpected: (answer) => answer.statusCode === 404,
    },
    'fan-out-event': {
      event: () => queueBatch([walletEvent(organizationId(0), 'ev-1')]),
      isExpected: nothingKept,
    },
    'deliver-webhook': {
      event: () => deliveryBatch([webhookId], organizationId(0), 1),
      isExpected: nothingKept,
    },
    'run-operation': {
      event: () => ({ operation: 'describe-identity', input: { identityId: callerId(0) } }),
      isExpected: (answer) => answer.ok === true,
    },
    'purge-expired': {
      event: () => ({}),
      isExpected: (answer) => answer === null,
    },
    'export-jwks': {
      event: () => ({
        RequestType: 'Create',
        LogicalResourceId: 'Keys',
        ResourceProperties: { Keys: [{ Label: '2026-11', Arn: signingKeyArn }] },
      }),
      isExpected: (answer) => typeof answer.Data.Jwks === 'string',
    },
    'migrate-schema': {
      event: () => ({ RequestType: 'Delete' }),
      isExpected: (answer) => answer.PhysicalResourceId === 'schema-migration',
    },
  }) as const satisfies Record<string, FirstEvent>;

export type UseCase = keyof ReturnType<typeof firstEvents>;
