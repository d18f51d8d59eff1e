import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { secretText } from '../../../domain/webhook-secrets';
import type { Database } from '../../../lambda/database/database';
import { createHandler } from '../../../lambda/run-operation/handler';
import { createWebhookSecrets } from '../../../lambda/webhooks/webhook-secrets';
import type { LocalFunction } from '../../../local/lambda/function';
import { startAwsServer } from '../../../local/services/aws-server';
import { createLambdaApi } from '../../../local/services/lambda-api';
import { localClient } from '../../support/aws-client';
import { startKms } from '../../support/local-services';
import { recordLog } from '../../support/log';
import { writeOutputs } from '../../support/outputs-file';
import { startMigratedDatabase } from '../../support/region-database';
import { first } from '../../support/rows';
import { startTestQueues, type TestQueue } from '../../support/sqs';
import { wallet } from '../region';

/** What the webhook commands work on: real operations on a real PostgreSQL, queues, and a key of KMS. */
export interface WebhookRegion {
  readonly owner: Database;
  readonly events: TestQueue;
  readonly eventsDeadLetters: TestQueue;
  readonly deliveries: TestQueue;
  readonly deliveryDeadLetters: TestQueue;
  emptyQueues(): Promise<void>;
  /** A webhook's secret, as the delivery function derives it. */
  secret(webhookId: string, version?: number): Promise<string>;
  /** Runs a command on this region. */
  wallet(...args: string[]): ReturnType<typeof wallet>;
  /** Runs a command with `--json` that has to succeed. */
  json<T>(...args: string[]): Promise<T>;
  /** The outputs file. */
  readonly outputs: string;
  /** An outputs file of the same stack as if it were deployed to AWS. */
  readonly deployedOutputs: string;
  stop(): Promise<void>;
}

const keyArn = 'arn:aws:kms:eu-central-1:000000000000:key/webhook-secrets';

export async function startWebhookRegion(): Promise<WebhookRegion> {
  const directory = mkdtempSync(join(tmpdir(), 'wallet-webhooks-'));
  const [database, queues, kms] = await Promise.all([startMigratedDatabase(), startTestQueues(), startKms()]);
  kms.create({ arn: keyArn, directory, name: 'key', keySpec: 'HMAC_256', keyUsage: 'GENERATE_VERIFY_MAC' });
  const handler = createHandler({
    ports: { database: database.as('run_operation'), environment: first.name, localReceivers: true },
    log: recordLog(),
  });
  const operations: Pick<LocalFunction, 'invoke'> = {
    invoke: async (event) => ({ ok: true, payload: await handler(event) }),
  };
  const lambda = await startAwsServer({ lambda: createLambdaApi(() => operations as LocalFunction) });
  const create = () => queues.create();
  const all = await Promise.all([create(), create(), create(), create()]);
  const [events, eventsDeadLetters, deliveries, deliveryDeadLetters] = all;
  const client = new KMSClient(localClient(kms.url));
  const secrets = createWebhookSecrets({ kms: client, keyId: keyArn });

  const stack = {
    [first.stackId]: {
      OperationsFunctionName: 'operations',
      WebhookSecretsKeyArn: keyArn,
      WebhookEventsQueueUrl: events.url,
      WebhookEventsDeadLetterQueueUrl: eventsDeadLetters.url,
      WebhookDeliveryQueueUrl: deliveries.url,
      WebhookDeliveryDeadLetterQueueUrl: deliveryDeadLetters.url,
    },
  };
  const endpoints = { sqs: queues.url, kms: kms.url, lambda: lambda.url };
  const outputs = writeOutputs(directory, stack, endpoints);
  mkdirSync(join(directory, 'aws'));
  const deployedOutputs = writeOutputs(join(directory, 'aws'), stack);

  const run = (...args: string[]) => wallet(...args, '--outputs', outputs);
  return {
    owner: database.owner,
    events,
    eventsDeadLetters,
    deliveries,
    deliveryDeadLetters,
    async emptyQueues() {
      for (const { url } of all) await queues.sqs.send(new PurgeQueueCommand({ QueueUrl: url }));
    },
    async secret(webhookId, version = 1) {
      const secret = await secrets.secret(webhookId, version);
      if (!secret.ok) throw new Error(secret.error.reason);
      return secretText(secret.value);
    },
    wallet: run,
    async json<T>(...args: string[]) {
      const { exitCode, stdout, stderr } = await run(...args, '--json');
      if (exitCode !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as T;
    },
    outputs,
    deployedOutputs,
    async stop() {
      client.destroy();
      await Promise.all([database.stop(), queues.stop(), kms.close(), lambda.close()]);
      rmSync(directory, { recursive: true });
    },
  };
}
