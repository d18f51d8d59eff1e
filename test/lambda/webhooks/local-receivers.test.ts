import { newId } from '../../../domain/ids';
import { localReceiversVariable } from '../../../domain/receiver-url';
import { createDependencies as deliverWebhook } from '../../../lambda/deliver-webhook/handler';
import { createHandler, createDependencies as runOperation } from '../../../lambda/run-operation/handler';
import { type HttpServer, startHttpServer } from '../../support/http-server';

/** Environment variables of a stack with the Data API; all values are fictitious. */
const given = {
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

/** Creates a function's dependencies from only the variables that its stack sets, and these additional ones. */
function asOnAws<Dependencies>(
  createDependencies: () => Dependencies,
  more: Readonly<Record<string, string>>,
): Dependencies {
  const before = process.env;
  process.env = { ...given, ...more };
  try {
    return createDependencies();
  } finally {
    process.env = before;
  }
}

const webhookId = 'wh-00001-00001-0000000000000001';

// On AWS, http://127.0.0.1:9001 is the Lambda Runtime API.
let inside: HttpServer;
let visits: number;

beforeAll(async () => {
  inside = await startHttpServer((_request, response) => {
    visits += 1;
    response.end();
  });
});
beforeEach(() => {
  visits = 0;
});
afterAll(() => inside.stop());

const deliver = (variables: Readonly<Record<string, string>>) =>
  asOnAws(deliverWebhook, variables).ports.receivers.post({
    webhookId,
    url: inside.url,
    headers: {},
    body: '{}',
  });

it.each([
  ['without the variable', {}],
  ['with another value of the variable', { [localReceiversVariable]: 'true' }],
])('%s, a receiver on this machine cannot be added and gets no deliveries', async (_, variables) => {
  expect(await deliver(variables)).toEqual({ answered: false, reason: 'scheme_not_https' });
  expect(visits).toBe(0);
  const input = { organizationId: newId('or'), url: inside.url };
  const answer = await createHandler(asOnAws(runOperation, variables))({ operation: 'add-webhook', input });
  expect(answer).toMatchObject({ ok: false, error: { code: 'scheme_not_https' } });
});

it('with the variable, it gets deliveries', async () => {
  expect(await deliver({ [localReceiversVariable]: 'allowed' })).toEqual({ answered: true, status: 200 });
  expect(visits).toBe(1);
});
