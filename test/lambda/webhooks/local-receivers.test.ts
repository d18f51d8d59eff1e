import { newId } from '../../../domain/ids';
import { localReceiversVariable } from '../../../domain/receiver-url';
import { createDependencies as deliverWebhook } from '../../../lambda/deliver-webhook/handler';
import { createHandler, createDependencies as runOperation } from '../../../lambda/run-operation/handler';

/** What a stack sets; all values are fictitious. */
const variables = {
  AWS_REGION: 'eu-central-1',
  DATABASE_ACCESS: 'data-api',
  DATABASE_NAME: 'wallet',
  DATABASE_CLUSTER_ARN: 'arn:aws:rds:eu-central-1:000000000000:cluster:test',
  DATABASE_SECRET_ARN: 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:test',
  DELIVERY_QUEUE_URL: 'https://sqs.example/queue',
  RETRY_QUEUE_URL: 'https://sqs.example/retries',
  DELIVERY_DEAD_LETTER_QUEUE_URL: 'https://sqs.example/dead-letters',
  ENVIRONMENT: 'test',
  EVENTS_QUEUE_URL: 'https://sqs.example/events',
  WEBHOOK_SECRETS_KEY_ID: 'arn:aws:kms:eu-central-1:000000000000:key/test',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
};
afterEach(() => jest.restoreAllMocks());

// Nothing listens there. On AWS, http://127.0.0.1:9001 is the Lambda Runtime API.
const url = 'http://127.0.0.1:1/';
const deliver = () =>
  deliverWebhook().ports.receivers.post({ webhookId: 'wh-1', url, headers: {}, body: '' });

it.each([
  ['without the variable', {}],
  ['with another value of the variable', { [localReceiversVariable]: 'true' }],
])('%s, a receiver on this machine cannot be added and gets no deliveries', async (_, more) => {
  jest.replaceProperty(process, 'env', { ...variables, ...more });
  expect(await deliver()).toEqual({ answered: false, reason: 'scheme_not_https' });
  const input = { organizationId: newId('or'), url };
  const answer = await createHandler(runOperation())({ operation: 'add-webhook', input });
  expect(answer).toMatchObject({ ok: false, error: { code: 'scheme_not_https' } });
});

it('with the variable, deliveries are attempted', async () => {
  jest.replaceProperty(process, 'env', { ...variables, [localReceiversVariable]: 'allowed' });
  expect(await deliver()).toEqual({ answered: false, reason: 'connection_refused' });
});
