import { SQSClient } from '@aws-sdk/client-sqs';
import { Pool } from 'pg';
import { localReceiversVariable } from '../../domain/receiver-url';
import { connectDatabase } from '../../lambda/database/direct';
import { databaseVariables } from '../../lambda/database/variables';
import { createDependencies as createDelivery } from '../../lambda/deliver-webhook/handler';
import * as deliverWebhook from '../../lambda/deliver-webhook/variables';
import { createDependencies as createFanOut } from '../../lambda/fan-out-event/handler';
import * as fanOutEvent from '../../lambda/fan-out-event/variables';
import { createDependencies as createProbe } from '../../lambda/probe-webhooks/handler';
import * as probeWebhooks from '../../lambda/probe-webhooks/variables';

jest.mock('pg', () => ({ ...jest.requireActual('pg'), Pool: jest.fn(() => ({ on: () => undefined })) }));

// Keys, secrets and the Data API are those of the variables, or end-to-end tests fail. Another queue would deliver, too.
it('functions use the queue of each variable, and deliver to this machine only for the exact value of its own', async () => {
  const names = [deliverWebhook, fanOutEvent, probeWebhooks].flatMap(({ variables }) => [...variables]);
  for (const name of [...databaseVariables['data-api'], ...names, localReceiversVariable])
    process.env[name] = name;
  const send = jest.spyOn(SQSClient.prototype, 'send').mockImplementation(async () => ({}));
  const [probe, fanOut, delivery] = [createProbe(), createFanOut(), createDelivery()];
  for (const [queue, QueueUrl] of [
    [probe.events, 'EVENTS_QUEUE_URL'],
    [fanOut.events, 'EVENTS_QUEUE_URL'],
    [fanOut.deadLetters, 'EVENTS_DEAD_LETTER_QUEUE_URL'],
    [fanOut.ports.queues.delivery, 'DELIVERY_QUEUE_URL'],
    [fanOut.ports.queues.retry, 'RETRY_QUEUE_URL'],
    [delivery.ports.events, 'EVENTS_QUEUE_URL'],
    [delivery.deadLetters, 'DELIVERY_DEAD_LETTER_QUEUE_URL'],
    [delivery.queues.delivery, 'DELIVERY_QUEUE_URL'],
    [delivery.queues.retry, delivery.retryQueueUrl],
    [delivery.queues.retry, 'RETRY_QUEUE_URL'],
  ] as const) {
    await queue.send([{ body: '{}', group: 'g' }]);
    expect(send.mock.lastCall?.[0].input).toMatchObject({ QueueUrl });
  }
  // On AWS, the Lambda Runtime API.
  const request = { webhookId: 'wh-1', url: 'http://127.0.0.1:9001/', headers: {}, body: '' };
  expect(await delivery.ports.receivers.post(request)).toMatchObject({ reason: 'scheme_not_https' });
});

// A local PostgreSQL accepts any token.
it('signs a token of a quarter of an hour for the role, the endpoint and the region, as Aurora checks', async () => {
  Object.assign(process.env, {
    AWS_REGION: 'me-central-1',
    AWS_ACCESS_KEY_ID: 'KEY',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'session',
  });
  connectDatabase({
    DATABASE_ACCESS: 'direct',
    DATABASE_HOST: 'cluster.example',
    DATABASE_PORT: '5432',
    DATABASE_NAME: 'wallet',
    DATABASE_USER: 'delete_user_group',
    // Any file.
    DATABASE_CERTIFICATE_AUTHORITIES: __filename,
  });
  const [settings] = jest.mocked(Pool).mock.lastCall ?? [];
  expect(settings).toMatchObject({ host: 'cluster.example', port: 5432, user: 'delete_user_group' });
  const password = settings?.password as () => Promise<string>;
  const { host, pathname, searchParams } = new URL(`https://${await password()}`);
  expect([host, pathname]).toEqual(['cluster.example:5432', '/']);
  expect(Object.fromEntries(searchParams)).toMatchObject({
    Action: 'connect',
    DBUser: 'delete_user_group',
    'X-Amz-Expires': '900',
    'X-Amz-Credential': expect.stringMatching(/^KEY\/\d{8}\/me-central-1\/rds-db\/aws4_request$/),
    'X-Amz-Security-Token': 'session',
    'X-Amz-SignedHeaders': 'host',
  });
});
