import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../cli/command-line';
import { createTerminal } from '../../cli/shell/terminal';
import { hostileToAws } from '../support/hostile-variables';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { writeOutputs } from '../support/wallet-command';
import { type Call, callsNotGranted, type Replies, type Reply, result, useAccount } from './account';
import { useInstantWaits } from './instant-waits';
import { address, OriginAccount } from './origin/origin-account';
import { groupId, identityId, organizationId, webhookId } from './region';

const ofWebhook = ['--webhook', webhookId];
const ofCaller = ['--caller', identityId];
const ofOrganization = ['--organization', organizationId];
export const url = 'https://hooks.customer.com/wallet';

/** Every command that works on a deployed environment, with the options that it needs. */
export const everyCommand: Readonly<Record<string, readonly string[]>> = {
  audit: ['--group', groupId],
  'delete-group': ['--group', groupId, ...ofCaller],
  deliveries: [],
  'local seed': [],
  'local send-event': [...ofOrganization, '--kind', 'wallet.created'],
  'local token': ofCaller,
  'local user-action': [...ofCaller, '--method', 'DELETE', '--path', `/auth/user-groups/${groupId}`],
  'move-origin': ['--zone', '2', '--yes'],
  'origin-status': [],
  origins: [],
  redeliver: [...ofWebhook, '--since', '1h'],
  smoke: [],
  'webhook add': [...ofOrganization, '--url', url, '--kinds', 'wallet.created,a'],
  'webhook disable': ofWebhook,
  'webhook enable': ofWebhook,
  'webhook list': ofOrganization,
  'webhook remove': ofWebhook,
  'webhook rotate': ofWebhook,
  'webhook secret': ofWebhook,
  'webhook show': ofWebhook,
  'webhook test': ofWebhook,
  'webhook update': [...ofWebhook, '--url', url, '--all-kinds'],
};

const time = '2026-11-20T12:00:00.000Z';
const seeded = {
  organizationId,
  callerId: identityId,
  serviceAccountId: 'sa-aaaaa-bbbbb-cccccccccccccccc',
  endUserId: 'us-aaaaa-bbbbb-dddddddddddddddd',
  userGroupId: groupId,
  userGroupName: 'Approvers 1a2b3c',
};
export const webhook = {
  webhookId,
  organizationId,
  url,
  kinds: ['wallet.created', 'wallet.deleted'],
  enabled: true,
  disabledReason: null,
  disabledAt: null,
  secretVersion: 2,
  rotatedAt: time,
  createdAt: '2026-11-19T12:00:00.000Z',
  pausedUntil: null,
  pauseReason: null,
};
export const disabled = { ...webhook, enabled: false, disabledReason: 'operator', disabledAt: time };
export const paused = { pausedUntil: '2026-11-20T12:30:00.000Z', pauseReason: 'no_response' };
export const attempt = {
  date: time,
  eventId: 'evt_1',
  webhookId,
  deliveryId: 'msg_1',
  series: '',
  attempt: 1,
  status: 204,
  durationMs: 12,
  outcome: 'delivered',
  reason: 'ok',
  nextAttemptAt: null,
};
/** What differs in an attempt without a response, of a redelivery. */
const retried = {
  outcome: 'failed',
  status: null,
  reason: 'timeout',
  series: 'own',
  nextAttemptAt: '2026-11-20T12:00:05.000Z',
};
export const record = {
  date: time,
  organizationId,
  identityId,
  operation: 'Auth:UserGroups:Delete',
  subjectId: groupId,
  subjectName: 'Approvers',
  outcome: 'deleted',
  requestId: 'request-1',
};

// biome-ignore lint/suspicious/noExplicitAny: tests know the inputs of operations
export type Operations = Readonly<Record<string, (input: any) => object>>;

/** What the operations function returns where all is well. A result with `error` is a refusal. */
const operations: Operations = {
  seed: () => seeded,
  'remove-ephemeral-organizations': () => ({ removed: [organizationId] }),
  'describe-identity': () => ({ identityId, organizationId, kind: 'CustomerEmployee', active: true }),
  'list-audit-records': () => ({ records: [record] }),
  'add-webhook': (input) => ({
    ...webhook,
    secretVersion: 1,
    rotatedAt: null,
    ...(input.url && { url: input.url }),
  }),
  'list-webhooks': () => ({
    webhooks: [webhook, { ...disabled, kinds: null, url: `${url}#a` }, { ...webhook, url: `${url}/[a]` }],
  }),
  'update-webhook': () => ({ ...disabled, ...paused, kinds: null }),
  'rotate-webhook-secret': () => ({ webhookId, secretVersion: 3, rotatedAt: time, previousSignsUntil: time }),
  'disable-webhook': () => disabled,
  'remove-webhook': () => ({ webhookId, organizationId }),
  'list-delivery-attempts': ({ outcome }) => ({
    attempts:
      outcome === 'given_up'
        ? [{ ...attempt, outcome, reason: 'timeout' }]
        : [attempt, { ...attempt, ...retried }],
  }),
  'list-stored-events': () => ({
    events: [
      { eventId: 'evt_1', acceptedAt: time, delivered: true },
      { eventId: 'evt_2', acceptedAt: time, delivered: false },
    ],
  }),
};

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const bytesOf = (text: string) => Buffer.from(text, 'base64');

const kms: Replies = {
  'kms:GetPublicKey': () =>
    result({ PublicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') }),
  'kms:Sign': ({ input: { Message } }) =>
    result({ Signature: sign('sha256', bytesOf(Message), privateKey).toString('base64') }),
  'kms:GenerateMac': ({ input: { KeyId, Message } }) =>
    result({ Mac: createHmac('sha256', KeyId).update(bytesOf(Message)).digest('base64') }),
};

/** SQS accepts every message of a batch. */
const acceptMessages = ({ input }: Call): Reply => {
  const Successful = input.Entries.map(({ Id, MessageBody }: Readonly<Record<string, string>>) => {
    const MD5OfMessageBody = createHash('md5').update(String(MessageBody)).digest('hex');
    return { Id, MessageId: Id, MD5OfMessageBody };
  });
  return result({ Successful });
};

export const json = (value: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});
export const deletion = `api:DELETE /auth/user-groups/${groupId}`;
export const origins = { environment: first.name, addresses: [`${address}/32`] };

/** A deployed environment where all is well, but for these answers of the operations function. */
export function healthy(changed: Operations = {}, origin = new OriginAccount()): Replies {
  const deletions = [json({}), json({ code: 'user_group_not_found' }, 404)];
  const known = { ...operations, ...changed };
  return {
    ...origin.replies,
    ...kms,
    'sqs:SendMessageBatch': acceptMessages,
    [deletion]: () => deletions.shift() ?? json({}),
    'api:GET /webhook-origins': () => json(origins),
    'lambda:Invoke': ({ input: { operation, input } }) => {
      const found = known[operation]?.(input) ?? webhook;
      return result('error' in found ? { ok: false, ...found } : { ok: true, result: found });
    },
  };
}

/** The outputs of its stack. */
export const stackAt = (apiUrl: string) => ({
  ApiBaseUrl: apiUrl,
  WebhookOriginAddress: address,
  OperationsFunctionName: 'operations',
  TokenSigningKeyArn: 'token',
  UserActionSigningKeyArn: 'user-action',
  WebhookSecretsKeyArn: 'secrets',
  WebhookEventsQueueUrl: 'events',
  WebhookDeliveryQueueUrl: 'deliveries',
});

interface Run {
  /** @default - a deployed environment where all is well */
  readonly replies?: Replies;
  /** Outputs of the stack, in the file; `PORT` is that of the API. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** On this machine, with variables that would mislead the SDK. */
  readonly local?: boolean;
}

/** Runs commands on an environment of a test file, at noon, without waits. */
export function useCommands() {
  const folder = temporaryFolder();
  const account = useAccount();
  const noon = Date.parse('2026-11-20T12:00:00Z');
  useInstantWaits(noon);
  return {
    account,
    async run(words: readonly string[], { replies = healthy(), outputs, local = false }: Run = {}) {
      account().answer(replies);
      jest.setSystemTime(noon);
      const { url } = account();
      const stacks = { [first.stackId]: { ...stackAt(url), ...outputs } };
      const file = writeOutputs(
        mkdtempSync(join(folder(), 'outputs-')),
        JSON.stringify(stacks).replaceAll('PORT', new URL(url).port),
        local ? { kms: url, lambda: url, sqs: url } : undefined,
      );
      const written: string[] = [];
      const stdout = { write: (text: string) => written.push(text) };
      const stderr = { write: (text: string) => written.push(text.replace(/^(?=.)/gm, '! ')) };
      const { env } = process;
      if (local) process.env = { ...env, ...hostileToAws };
      const exitCode = await runCommandLine([...words, '--outputs', file], createTerminal(stdout, stderr));
      process.env = env;
      if (words.some((word) => /^(move-origin|origin-status|smoke|test)$/.test(word)))
        expect(callsNotGranted('operate', account().calls)).toEqual([]);
      /** All that it prints, its notes marked by `!`. */
      const printed = written.join('').trimEnd().replaceAll(file, 'FILE');
      return { exitCode, printed, results: printed.replaceAll(/^! .*\n?/gm, '').trimEnd() };
    },
  };
}
