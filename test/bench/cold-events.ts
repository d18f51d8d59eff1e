import { accessTokenClaims, type SigningKey, signJwt } from '../support/tokens';
import { deletionEvent } from './deletion-event';
import { callerId, organizationId } from './fill';

interface FirstEvent {
  event(): unknown;
  isExpected(answer: unknown): boolean;
}

export type ColdEvents = ReturnType<typeof coldEvents>;

// biome-ignore lint/suspicious/noExplicitAny: the answers of all functions, each of its own shape
type Answer = any;

/** An event for every use case, and how its answer is told from a failure. */
export function coldEvents(
  key: SigningKey,
  names: { readonly signingKeyArn: string; readonly webhookId: string; readonly queueArn: string },
) {
  const nothingKept = (answer: Answer) => answer.batchItemFailures.length === 0;
  const event = () => ({
    id: 'ev-1',
    organizationId: organizationId(0),
    kind: 'wallet.created',
    date: '2026-11-20T12:00:00.000Z',
    data: {},
  });
  const message = (body: unknown) => ({
    Records: [
      {
        messageId: '1',
        receiptHandle: 'none',
        body: JSON.stringify(body),
        attributes: {
          SentTimestamp: String(Date.now()),
          ApproximateFirstReceiveTimestamp: String(Date.now()),
          ApproximateReceiveCount: '1',
        },
        messageAttributes: {},
        md5OfBody: '',
        eventSource: 'aws:sqs',
        eventSourceARN: names.queueArn,
        awsRegion: 'eu-central-1',
      },
    ],
  });
  return {
    'authorize-request': {
      event: () => ({
        type: 'REQUEST',
        methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:api/v1/GET/',
        multiValueHeaders: {
          Authorization: [
            `Bearer ${signJwt(key, accessTokenClaims({ sub: callerId(0), org: organizationId(0) }))}`,
          ],
        },
        requestContext: { extendedRequestId: 'request-1' },
      }),
      isExpected: (answer: Answer) => answer.policyDocument.Statement[0].Effect === 'Allow',
    },
    'serve-dashboard': {
      event: () => ({}),
      isExpected: (answer: Answer) => answer.statusCode === 200,
    },
    'delete-user-group': {
      // Not there: the statement is the same, and no two processes need different groups.
      event: () => deletionEvent(key, 0, 'ug-zzzzz-zzzzz-zzzzzzzzzzzzzzzz'),
      isExpected: (answer: Answer) => answer.statusCode === 404,
    },
    'fan-out-event': { event: () => message(event()), isExpected: nothingKept },
    'deliver-webhook': {
      event: () =>
        message({
          deliveryId: 'msg_1',
          webhookId: names.webhookId,
          eventId: 'ev-1',
          acceptedAt: Date.now(),
          body: JSON.stringify(event()),
        }),
      isExpected: nothingKept,
    },
    'run-operation': {
      event: () => ({ operation: 'describe-identity', input: { identityId: callerId(0) } }),
      isExpected: (answer: Answer) => answer.ok === true,
    },
    'purge-expired': {
      event: () => ({}),
      isExpected: (answer: Answer) => answer === null,
    },
    'export-jwks': {
      event: () => ({
        RequestType: 'Create',
        LogicalResourceId: 'Keys',
        ResourceProperties: { Keys: [{ Label: '2026-11', Arn: names.signingKeyArn }] },
      }),
      isExpected: (answer: Answer) => typeof answer.Data.Jwks === 'string',
    },
    'migrate-schema': {
      event: () => ({ RequestType: 'Delete' }),
      isExpected: (answer: Answer) => answer.PhysicalResourceId === 'schema-migration',
    },
  } as const satisfies Record<string, FirstEvent>;
}
