import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import { secretText } from '../../domain/signature';
import { createWebhookSecrets } from '../../lambda/shared/webhook-secrets';
import { localClient, startKms } from '../support/aws-client';
import { hostileToAws } from '../support/hostile-variables';
import { first } from '../support/rows';
import { runWallet, wallet as succeed, writeOutputs } from '../support/wallet-command';
import { type Call, type Replies, type Reply, result as reply, startAccount } from './account';

const keyPrefix = 'arn:aws:kms:eu-central-1:000000000000:key/';
export const keyArns = {
  accessToken: `${keyPrefix}access-token`,
  userAction: `${keyPrefix}user-action`,
  webhookSecrets: `${keyPrefix}webhook-secrets`,
};
export const identityId = 'us-aaaaa-bbbbb-cccccccccccccccc';
export const organizationId = 'or-aaaaa-bbbbb-cccccccccccccccc';
export const webhookId = 'wh-aaaaa-bbbbb-cccccccccccccccc';
export const groupId = 'ug-aaaaa-bbbbb-cccccccccccccccc';

// biome-ignore lint/suspicious/noExplicitAny: tests know the inputs and results of operations
type Operation = (input: any) => Reply;

const json = (body: unknown): Reply => ({ body: JSON.stringify(body) });
export const result = (value: unknown) => json({ ok: true, result: value });
export const refusal = (code: string, message: string) => json({ ok: false, error: { code, message } });

/**
 * A local environment with a real KMS. Each test sets the responses of the operations function, whose own
 * tests are in test/lambda/run-operation.
 */
async function startRegion() {
  const directory = mkdtempSync(join(tmpdir(), 'wallet-region-'));
  const kms = await startKms();
  const key = (arn: string) => ({ arn, directory, name: arn.slice(keyPrefix.length) });
  for (const arn of [keyArns.accessToken, keyArns.userAction])
    kms.create({ ...key(arn), keySpec: 'ECC_NIST_P256', keyUsage: 'SIGN_VERIFY' });
  kms.create({ ...key(keyArns.webhookSecrets), keySpec: 'HMAC_256', keyUsage: 'GENERATE_VERIFY_MAC' });

  const account = await startAccount();
  const stack = {
    ...{ ApiBaseUrl: account.url, WebhookOriginAddress: '127.0.0.1' },
    ...{ TokenSigningKeyArn: keyArns.accessToken, UserActionSigningKeyArn: keyArns.userAction },
    ...{ OperationsFunctionName: 'operations', WebhookSecretsKeyArn: keyArns.webhookSecrets },
    ...{ WebhookEventsQueueUrl: 'events', WebhookDeliveryQueueUrl: 'deliveries' },
  };
  const endpoints = { kms: kms.url, lambda: account.url, sqs: account.url };
  const outputs = writeOutputs(directory, { [first.stackId]: stack }, endpoints);
  const client = new KMSClient(localClient(kms.url));

  const region = {
    outputs,
    endpoints,
    kms: client,
    /** Requests to the operations function since the last `answer`. */
    calls: (): { readonly operation: string; readonly input: unknown }[] =>
      account.calls.flatMap(({ action, input }) => (action === 'Invoke' ? [input] : [])),
    /** Messages put on the queues since the last `answer`. */
    messages: (): { readonly queue: string; readonly group: string; readonly body: string }[] =>
      account.calls.flatMap(({ input: { QueueUrl: queue, Entries = [] } }) =>
        Entries.map(({ MessageGroupId: group, MessageBody: body }: Readonly<Record<string, string>>) => ({
          ...{ queue, group, body },
        })),
      ),
    answer(operations: Readonly<Record<string, Operation>>, others: Replies = {}) {
      account.answer(others, {
        'lambda:Invoke': ({ input }) => operations[input.operation]?.(input.input) ?? json(null),
        'sqs:SendMessageBatch': acceptMessages,
      });
    },
    /** A webhook's secret, as the delivery function derives it. */
    async secret(version: number) {
      const secrets = createWebhookSecrets({ kms: client, keyId: keyArns.webhookSecrets });
      const secret = await secrets.secret(webhookId, version);
      return secretText(secret.ok ? secret.value : new Uint8Array());
    },
    wallet: (...args: string[]) => wallet(...args, '--outputs', outputs),
    /** Runs a command that has to succeed. */
    json: async (...args: string[]) => JSON.parse(await succeed(...args, '--outputs', outputs, '--json')),
    async stop() {
      client.destroy();
      await Promise.all([account.close(), kms.close()]);
      rmSync(directory, { recursive: true });
    },
  };
  return region;
}

/** SQS accepts every message of a batch. */
const acceptMessages = ({ input }: Call) => {
  const Successful = input.Entries.map(({ Id, MessageBody }: Readonly<Record<string, string>>) => {
    const MD5OfMessageBody = createHash('md5').update(String(MessageBody)).digest('hex');
    return { Id, MessageId: Id, MD5OfMessageBody };
  });
  return reply({ Successful });
};

export function useRegion() {
  const region = {} as Awaited<ReturnType<typeof startRegion>>;
  const { env } = process;
  beforeAll(async () => {
    process.env = { ...env, ...hostileToAws };
    Object.assign(region, await startRegion());
  });
  afterAll(() => {
    process.env = env;
    return region.stop();
  });
  return region;
}

export const wallet = (...args: string[]) => runWallet(args);
