import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { joseSignature } from '../../cli/callers/sign-jwt';
import { runCommandLine } from '../../cli/command-line';
import { createTerminal } from '../../cli/shell/terminal';
import { parseRedelivery } from '../../domain/event';
import { probe } from '../../domain/probe';
import { hostileToAws } from '../support/hostile-variables';
import { first, withoutSla, withSla } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { flagsOf, runWallet, walletCommands, writeOutputs } from '../support/wallet-command';
import type { Replies, Reply } from './account';
import {
  macs,
  notGranted,
  refusal,
  resource,
  result,
  useAccount,
  withoutStacks,
  withResources,
} from './account';
import { useInstantWaits } from './instant-waits';
import { address, OriginAccount, reserve, withReserve } from './origin/origin-account';
import { groupId, identityId, organizationId, unfinished, webhookId } from './region';

const ofWebhook = ['--webhook', webhookId];
const ofCaller = ['--caller', identityId];
const ofOrganization = ['--organization', organizationId];
const url = 'https://hooks.customer.com/wallet';

/** Every command that works on a deployed environment, with the options that it needs. */
const everyCommand: Readonly<Record<string, readonly string[]>> = {
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
const webhook = {
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
const disabled = { ...webhook, enabled: false, disabledReason: 'operator', disabledAt: time };
const paused = { pausedUntil: '2026-11-20T12:30:00.000Z', pauseReason: 'no_response' };
const attempt = {
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
const givenUp = { ...attempt, outcome: 'given_up', reason: 'timeout' };
/** An attempt without a response, of a redelivery. */
const retried = {
  ...attempt,
  outcome: 'failed',
  status: null,
  reason: 'timeout',
  series: 'own',
  nextAttemptAt: '2026-11-20T12:00:05.000Z',
};
const stored = { eventId: 'evt_1', acceptedAt: time, delivered: true };
const record = {
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
type Operations = Readonly<Record<string, (input: any) => object>>;

/** What the operations function returns where all is well. A result with `error` is a refusal. */
const operationsOfAll: Operations = {
  seed: () => seeded,
  'remove-ephemeral-organizations': () => ({ removed: [organizationId] }),
  'describe-identity': () => ({ identityId, organizationId, kind: 'CustomerEmployee', active: true }),
  'list-audit-records': () => ({ records: [record] }),
  'add-webhook': (input) => ({ ...webhook, secretVersion: 1, rotatedAt: null, url: input.url ?? url }),
  'list-webhooks': () => ({
    webhooks: [webhook, { ...disabled, kinds: null, url: `${url}#a` }, { ...webhook, url: `${url}/[a]` }],
  }),
  'update-webhook': () => ({ ...disabled, ...paused, kinds: null }),
  'rotate-webhook-secret': () => ({ webhookId, secretVersion: 3, rotatedAt: time, previousSignsUntil: time }),
  'disable-webhook': () => disabled,
  'remove-webhook': () => ({ webhookId, organizationId }),
  'list-delivery-attempts': ({ outcome }) => ({
    attempts: outcome === 'given_up' ? [givenUp] : [attempt, retried],
  }),
  'list-stored-events': () => ({ events: [stored, { ...stored, eventId: 'evt_2', delivered: false }] }),
};

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const json = (value: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});
const deletion = `api:DELETE /auth/user-groups/${groupId}`;
const origins = { environment: first.name, addresses: [`${address}/32`] };

/** All is well, but for this. */
interface Wrong {
  readonly operations?: Operations;
  readonly replies?: Replies;
  readonly origin?: Partial<OriginAccount>;
  /** `PORT` is that of the API. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** In place of its usual options. */
  readonly args?: readonly string[];
}

function repliesOf({ operations, replies, origin }: Wrong): Replies {
  const deletions = [json({}), json({ code: 'user_group_not_found' }, 404)];
  const known = { ...operationsOfAll, ...operations };
  return {
    ...new OriginAccount(origin).replies,
    'kms:GetPublicKey': () =>
      result({ PublicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') }),
    'kms:Sign': ({ input: { Message } }) =>
      result({ Signature: sign('sha256', Buffer.from(Message, 'base64'), privateKey).toString('base64') }),
    ...macs,
    'sqs:SendMessageBatch': ({ input }) => {
      const Successful = input.Entries.map(({ Id, MessageBody }: Readonly<Record<string, string>>) => {
        const MD5OfMessageBody = createHash('md5').update(String(MessageBody)).digest('hex');
        return { Id, MessageId: Id, MD5OfMessageBody };
      });
      return result({ Successful });
    },
    [deletion]: () => deletions.shift() ?? json({}),
    'api:GET /webhook-origins': () => json(origins),
    'lambda:Invoke': ({ input: { operation, input } }) => {
      const found = known[operation]?.(input) ?? webhook;
      return result('error' in found ? { ok: false, ...found } : { ok: true, result: found });
    },
    ...replies,
  };
}

const stack = {
  WebhookOriginAddress: address,
  OperationsFunctionName: 'operations',
  TokenSigningKeyArn: 'token',
  UserActionSigningKeyArn: 'user-action',
  WebhookSecretsKeyArn: 'secrets',
  WebhookEventsQueueUrl: 'events',
  WebhookDeliveryQueueUrl: 'deliveries',
};

const folder = temporaryFolder();
const account = useAccount();
const noon = Date.parse(time);
useInstantWaits(noon);

/** Runs a command on a deployed environment, or on this machine with variables that would mislead the SDK. */
async function run(words: readonly string[], wrong: Wrong = {}, local = false) {
  account().answer(repliesOf(wrong));
  jest.setSystemTime(noon);
  const { url } = account();
  const stacks = { [first.stackId]: { ...stack, ApiBaseUrl: url, ...wrong.outputs } };
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
    expect(notGranted('operate', account().calls)).toEqual([]);
  /** All that it prints, its notes marked by `!`. */
  const printed = written.join('').trimEnd().replaceAll(file, 'FILE');
  expect(printed).not.toMatch(unfinished);
  return { exitCode, printed, results: printed.replaceAll(/^! .*\n?/gm, '').trimEnd() };
}

const has = (path: string, flag: string) => flagsOf(path)?.includes(flag) ?? false;
const isGuarded = (path: string) => has(path, '--allow-production');
/** They write without --allow-production: one only with --yes, the other no data, to the one receiver that it names. */
const exceptions = ['move-origin', 'webhook test'];
/** What the last command asked for, but for what AWS says of itself: a line each. */
const requests = () =>
  account().calls.flatMap(({ action, input }) => {
    const { operation, QueueUrl, Entries = [] } = input;
    if (action === 'Invoke') return `${operation} ${JSON.stringify(input.input)}`;
    if (action === 'UpdateStack') return `${action} ${JSON.stringify(input)}`;
    return Entries.map(({ MessageGroupId, MessageBody }: Readonly<Record<string, string>>) =>
      [QueueUrl, MessageGroupId, MessageBody].join(' '),
    );
  });
/** Whether it wrote, or signed for a caller. */
const hasWritten = () =>
  requests().some((line) => !/^(list|describe)-/.test(line)) ||
  account().calls.some(({ action }) => /^(Sign$|DELETE )/.test(action));

function wordsOf(path: string, args = everyCommand[path] ?? []): readonly string[] {
  return [...path.split(' '), ...args, ...(isGuarded(path) ? ['--allow-production'] : [])];
}

/** JWTs decoded, and a number in place of each value that is drawn. */
function stable(text: string, isKnown: (value: string) => boolean): string {
  const drawn: string[] = [];
  const numberOf = (value: string) => (drawn.includes(value) ? drawn.indexOf(value) + 1 : drawn.push(value));
  const ids = /[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<="Approvers )[0-9a-f]{6}/g;
  return text
    .replaceAll(/([\w-]{20,}\.[\w-]{20,})\.[\w-]{86}/g, (_, parts: string) =>
      parts.replaceAll(/[\w-]+/g, (part) => String(Buffer.from(part, 'base64url'))),
    )
    .replaceAll(/(?<="kid":")[\w-]{43}/g, 'KID')
    .replaceAll(ids, (value) => (isKnown(value) ? value : `DRAWN${numberOf(value)}`));
}

const usual = (path: string, ...more: string[]) => ({ args: [...(everyCommand[path] ?? []), ...more] });
const answering = (name: string, answer: object): Wrong => ({ operations: { [name]: () => answer } });
const attempting = (...changes: object[]) =>
  answering('list-delivery-attempts', { attempts: changes.map((change) => ({ ...attempt, ...change })) });
const unlike = '{"btc":1,"BTC":[1.0,0.1,1e22,9007199254740992],"wei":9007199254740993,"tiny":1e-400}';
const interrupting: Wrong = {
  operations: { 'list-audit-records': () => ({ records: process.emit('SIGINT') ? [record] : [] }) },
};
const refusing = (call: string): Wrong => ({ replies: { [call]: () => refusal('AccessDenied') } });
const having = (WebhookOriginAddress: string) => ({ outputs: { WebhookOriginAddress } });
const reserving = (address = reserve) => ({ outputs: { WebhookOriginReserveAddress: address } });
const origin = (changed: Partial<OriginAccount>): Wrong => ({ origin: changed });
const toReserve = usual('move-origin', '--reserve');
const [running, done] = ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'];
const cleaning = 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS';
const onReserve = origin(withReserve('1', 'yes'));
const leaving = { ...withReserve(), update: [running, cleaning] };
const failures = ['--status', 'failed', '--since', '2026-11-20', '--until', '2026-11-21T00:00:00+01:00'];
const variants: readonly (readonly [command: string, wrong: Wrong])[] = [
  ['deliveries', { ...attempting(), args: [...ofWebhook, '--event', 'evt_1', ...failures] }],
  ['local send-event', usual('local send-event', '--dry-run', '--data', ` ${unlike} `)],
  ['move-origin', usual('move-origin', '--dry-run')],
  // EC2 is down, and the old zone does not respond.
  ['move-origin', { ...toReserve, ...refusing('ec2:DescribeAddresses'), ...reserving(), origin: leaving }],
  ['move-origin', onReserve],
  ['redeliver', { args: ['--webhook', webhookId, '--event', 'evt_1', '--dry-run'] }],
  ['webhook rotate', usual('webhook rotate', '--again')],
];

it('what commands print and ask for; those that write or sign require --allow-production', async () => {
  const ofEnvironments = walletCommands.map(([path]) => path).filter((path) => has(path, '--outputs'));
  // `receive` ends at Ctrl-C only; it lists webhooks, and derives their secrets.
  expect(Object.keys(everyCommand).concat('local receive').sort()).toEqual(ofEnvironments.sort());
  const texts: string[] = [];
  const plain = Object.keys(everyCommand).map((path): (typeof variants)[number] => [path, {}]);
  for (const [path, wrong] of [...plain, ...variants]) {
    const words = wordsOf(path, wrong.args);
    const { exitCode, printed } = await run(words, wrong);
    const writes = hasWritten() && !exceptions.includes(path);
    if (Object.keys(wrong).length === 0) expect([path, writes]).toEqual([path, isGuarded(path)]);
    const own = [printed, ...requests().map((line) => `> ${line}`)].join('\n');
    // On this machine, which needs no permission for production, where it has what the command works on.
    const local = !/^(move-origin|origin-status)$/.test(path);
    const there = [...words.filter((word) => !local || word !== '--allow-production'), '--json'];
    const json = await run(there, wrong, local);
    expect([words, exitCode, json.exitCode]).toEqual([words, 0, 0]);
    const again = [json.results, ...requests()].join('\n');
    // Where it has several lines, test/domain/allow-list.test.ts holds them.
    const line = json.results.replaceAll(/\n */g, '');
    const text = [`$ wallet ${words.join(' ')}`, own, line, ''].join('\n');
    texts.push(stable(text, (value) => own.includes(value) && again.includes(value)));
  }
  expect(texts.join('\n').replaceAll(account().url, 'URL')).toMatchSnapshot();
});

const refused = { error: { code: 'no', message: 'None.' } };
const invoking = (reply: Reply): Wrong => ({ replies: { 'lambda:Invoke': () => reply } });
const unhandled = { headers: { 'x-amz-function-error': 'Unhandled' }, body: '{"errorMessage":"no table"}' };
const notFannedOut = [{ error: { code: 'event_not_found', message: 'None.' } }, { attempts: [attempt] }];
/** Another delivery was the trial after a pause, and failed. */
const states = [webhook, { ...webhook, ...paused, pausedUntil: '2099-01-01T00:00:00.000Z' }];
const pausing: Wrong = {
  operations: { ...attempting().operations, 'describe-webhook': () => states.shift() ?? {} },
};
const later: Wrong = { operations: { 'list-delivery-attempts': () => notFannedOut.shift() ?? {} } };
const attempts = [{ ...attempt, status: null, outcome: 'failed', reason: 'slow' }, attempt];
const retrying: Wrong = {
  operations: { 'list-delivery-attempts': () => ({ attempts: attempts.splice(0, 1) }) },
};
const failing = (status: number | null, outcome = 'given_up', reason = 'server_error') =>
  attempting({ status, outcome, reason });
const auditing = (...changes: object[]) =>
  answering('list-audit-records', { records: changes.map((change) => ({ ...record, ...change })) });
const describing = (change: object) => answering('describe-webhook', { ...webhook, ...change });
const listing = (...webhooks: object[]) => answering('list-webhooks', { webhooks });
const deactivated = { identityId, organizationId, kind: 'ServiceAccount', active: false };
const deleting = (...all: Reply[]): Wrong => ({ replies: { [deletion]: () => all.shift() ?? json({}) } });
const again = (code: string, status: number) => deleting(json({}), json({ code }, status));
const publishing = (change: object, status = 200): Wrong => ({
  replies: { 'api:GET /webhook-origins': () => json({ ...origins, ...change }, status) },
});
const onQueue = { Failed: [{ Id: '0', SenderFault: false, Code: 'InternalError' }] };
const refusedByQueue: Wrong = { replies: { 'sqs:SendMessageBatch': () => result(onQueue) } };
const inZone = (WebhookOriginZone: string, status: string, more: Partial<OriginAccount> = {}) =>
  origin({ parameters: { WebhookOriginZone }, statuses: [status, done], ...more });
const failure = { LogicalResourceId: 'Gateway', ResourceStatus: 'CREATE_FAILED', ResourceStatusReason: 'X.' };
const ofAnother = { ...failure, LogicalResourceId: 'Other', ClientRequestToken: 'another' };
const back = [running, 'UPDATE_ROLLBACK_COMPLETE'];
const rolledBack = inZone('none', done, { update: back, events: [failure, ofAnother] });
const other = '203.0.113.9';
const gateway = (changed: object) => origin({ gateway: changed });
const onceDeleted = { ...resource('AWS::EC2::NatGateway', 'nat-other'), ResourceStatus: 'DELETE_COMPLETE' };
const neverCreated = { ...resource('AWS::EC2::NatGateway', ''), PhysicalResourceId: undefined };
const noGateways = { replies: { 'ec2:DescribeNatGateways': () => result({ natGatewaySet: [] }) } };
const noMac = { replies: { 'kms:GenerateMac': () => result({ Mac: 'AAAA' }) } };
const args = (...words: string[]): Wrong => ({ args: words });
const ofProbe = ['--webhook', probe.webhookId];
const adding = (url: string) => args('--organization', organizationId, '--url', url);
const ofTheWebhook = (...words: string[]) => args(...ofWebhook, ...words);
const noEvents = answering('list-stored-events', { events: [] });
const sendingData = (data: string) => usual('local send-event', '--data', data);
const proofs = "Give a customer's, not that of the environment's own probe.";
const nobody = 'No enabled webhook of or-aaaaa-bbbbb-cccccccccccccccc receives wallet.created';
const updates = 'Give --url, --kinds or --all-kinds; the last two exclude each other.';
const paths = ['delete its group through the API', 'delete it again: expect 404'] as const;
const failed = (step: string, found = '') => new RegExp(`^failed .*  ${step}  .*${found}`, 'm');
const pending = (found: string) => new RegExp(`^pending .*${found}(.|\\n)*: 9 passed, 4 pending, `, 'm');

/** With a custom domain name: what the stack itself returns, then where DNS leads, the last one repeatedly. */
const atName = (wrong: Wrong, ...published: Reply[]): Wrong => ({
  ...wrong,
  outputs: { ApiBaseUrl: 'http://localhost:PORT', ApiDomainTarget: '127.0.0.1' },
  replies: {
    'api:GET /webhook-origins': () => (published.length > 1 ? published.shift() : published[0]) ?? {},
  },
});
const elsewhere = [json(origins), { status: 503 }];
const former = { ...origins, addresses: [`${other}/32`], reserve: origins.addresses };

type Row = readonly [said: string | RegExp, wrong: Wrong, exitCode?: 0 | 2];
/** For each check of a command: what this check alone finds wrong, and what it says. A usage error sends nothing. */
const wrongs: Readonly<Record<string, readonly Row[]>> = {
  audit: [
    [/^! No audit records of ug-\S+\.$/, auditing(), 0],
    [/^\[\]$/, { ...auditing(), ...usual('audit', '--json') }, 0],
  ],
  'delete-group': [
    [/^403 .*\n! error: The API did not delete ug-\S+: x\.$/, deleting(json({ code: 'x' }, 403))],
    [/: 404\.\n! Either it is deleted already, .* audit --group ug-/, deleting(json({}, 404))],
    [/: 201\.$/, deleting(json({}, 201))],
  ],
  deliveries: [
    [/^\[.*\]$/, { ...attempting(...Array(100).fill({})), args: ['--json'] }, 0],
    [
      `! The latest 100. Earlier ones: --until ${attempt.date}`,
      attempting(...Array(99).fill({ date: '' }), {}),
      0,
    ],
  ],
  'local send-event': [
    [nobody, listing(disabled), 0],
    [nobody, listing({ ...webhook, kinds: ['a'] }), 0],
    [/^evt_/, listing({ ...webhook, kinds: null }), 0],
    ['WebhookEventsQueueUrl rejected 1 of 1 messages: InternalError.', refusedByQueue],
    [/error: The event has \d+ bytes/, sendingData(`"${'x'.repeat(65_536)}"`), 2],
    [/names at data\.a\.b: .*\. Use each name once\./, sendingData('{"a":{"b":1,"b":2}}'), 2],
    [/are reserved/, args('--organization', organizationId, '--kind', 'webhook.disabled'), 2],
    [proofs, args('--organization', probe.organizationId, '--kind', 'wallet.created'), 2],
  ],
  'local token': [
    [/^! error: None\.$/, answering('describe-identity', refused)],
    [/failed to run describe-identity: no table\.\n! See its log in Cl/, invoking(unhandled)],
    ['does not match this version', invoking({ body: '{"ok":true}' })],
    ['lambda:InvokeFunction failed: ', invoking({ status: 503 })],
    [/ is deactivated; the API will refuse it\.\neyJ/, answering('describe-identity', deactivated), 0],
  ],
  'move-origin': [
    [/^! Stack .*(\n! {3}\d\. .*)+\n! error: Nothing was changed\.\n! Add --yes/, args('--zone', '2'), 2],
    ['Give a zone from 1 to 3.', args('--zone', '4', '--yes'), 2],
    ['webhookOrigin: { reserve: true }', toReserve, 2],
    [/^! error: .*the outputs file has 203\.0\.113\.9/, having(other)],
    [
      /^! error: .*the outputs file has 203\.0\.113\.9/,
      { ...toReserve, ...reserving(other), origin: withReserve() },
    ],
    [/^! error: .*\n.*"Keeping the address"/, origin({ hasElasticIp: false })],
    [/zone 2\.\n! {3}1\. Check the gateway and the consumers\.\nThe/, inZone('2', done), 0],
    [/zone 2\.\n! {3}1\. Check the gateway/, inZone('2', cleaning), 0],
    [/zone 2\.\n! {3}1\. Wait for the update .*\n! {3}2\. Check the/, inZone('2', running), 0],
    [/none\.\n! {3}1\. Wait .*\n! {3}2\. Update .* zone 2/, inZone('none', running), 0],
    [/BACK_COMPLETE\. No gateway has the address; webhooks wait\.\n! {3}Gateway: X\.\n! See "If/, rolledBack],
    [/zone none\.\n(! .* for \d+ min\n)+! error: Stack .* after 40 min\./, origin({ update: [cleaning] })],
    [/^The webhook origin of eu is in/m, origin({ consumerStates: ['Enabling', 'Updating', 'Enabled'] }), 0],
    ['the consumer deliver of DeliveryQueue is enabling', origin({ consumerStates: ['Enabling'] })],
    ['is in zone 2, but gateway nat-2 is pending.', gateway({ state: 'pending' })],
  ],
  'origin-status': [
    ['no stack WalletEu in eu-central-1', { replies: withoutStacks }],
    ['no stack WalletEu in eu-central-1', origin({ statuses: ['REVIEW_IN_PROGRESS'] })],
    ['has no parameter WebhookOriginZone or no', origin({ parameters: {} })],
    ['has no parameter WebhookOriginZone or no', origin({ outputs: {} })],
    [/no Elastic IP 203\.0\.113\.7 (.|\n)*! Find it first:/, origin({ hasElasticIp: false })],
    [/^gateway {6}nat-1, available$/m, origin({ resources: [onceDeleted, neverCreated] }), 0],
    [/^stack {8}WalletEu$(.|\n)*^zone {9}unknown$/m, refusing('cloudformation:DescribeStacks')],
    ['"zone":null,', { ...refusing('cloudformation:DescribeStacks'), args: ['--json'] }],
    [/^gateway {6}unknown$/m, refusing('cloudformation:ListStackResources')],
    [/^gateway {6}unknown$/m, refusing('ec2:DescribeNatGateways')],
    ['unknown: lambda:GetEventSourceMapping failed', refusing('lambda:GetEventSourceMapping')],
    [/^\w+Queue +unknown +unknown +125 min$/m, refusing('sqs:GetQueueAttributes')],
    [/^\w+Queue +2 +7 +unknown$/m, refusing('monitoring:GetMetricStatistics')],
    [
      /^address .*, not in use\nreserve {6}203\.0\.113\.8, in use\n(.|\n)*: webhooks come from the res/m,
      onReserve,
      0,
    ],
    // What was changed outside CloudFormation.
    ['gateway nat-1 is pending', gateway({ state: 'pending' }), 0],
    ['gateway nat-1 is deleted', noGateways, 0],
    [/nat-1 is in subnet subnet-3, not in .* zone 1/, gateway({ subnetId: 'subnet-3' }), 0],
    ['nat-1 sends from no address, not 203.0.113.7', gateway({ natGatewayAddressSet: [] }), 0],
    [/^! warning: the consumer .* is disabled$/m, origin({ consumerStates: ['Enabled', 'Disabled'] }), 0],
    [/the stack has no gateway\n.*\n! Attach the origin to zone 2, /, { replies: withResources() }],
    [
      /no gateway has the address\n.*\n! Attach the origin to zone 1, .* move-origin --zone 1 --yes /,
      inZone('none', done),
    ],
  ],
  origins: [
    [/"".*not a public/, having('')],
    [/"10\.0\.0\.1".*not a public.*\n.*recreate it with "cdk deploy/, having('10.0.0.1')],
    [/Reserve.* not a public/, { outputs: { WebhookOriginReserveAddress: '203.0.113' } }],
  ],
  redeliver: [
    [/is disabled \(operator\).*\n! Enable it first: .* webhook enable/, describing(disabled)],
    ['Event evt_3 is not available for wh-', { ...noEvents, ...ofTheWebhook('--event', 'evt_3') }],
    ['Give --event or --since.', ofTheWebhook(), 2],
    ['Give --event or --since.', ofTheWebhook('--event', 'evt_1', '--since', '1h'), 2],
    ['require --since', ofTheWebhook('--event', 'evt_1', '--undelivered'), 2],
    ['require --since', ofTheWebhook('--event', 'evt_1', '--until', '1h'), 2],
    ['The earliest: --since 14d', ofTheWebhook('--since', '15d'), 2],
    ['Redelivered 2', ofTheWebhook('--since', '14d'), 0],
    ['is before --since', ofTheWebhook('--since', '1h', '--until', '2h'), 2],
    [proofs, args(...ofProbe, '--since', '1h'), 2],
  ],
  smoke: [
    [failed('create an ephemeral organization', 'None'), answering('seed', refused)],
    [failed(paths[0], 'Expected 200 {}'), deleting(json({ a: 1 }))],
    ["A proxy or a network's sign-in page", deleting({ body: '<title>Sign in</title>' })],
    [failed(paths[1], 'returned 200'), deleting()],
    [failed(paths[1]), again('user_group_not_found', 403)],
    [failed('find the audit record', 'None of the 0'), auditing()],
    [failed('find the audit record', 'None of the 1'), auditing({ identityId: 'us-2' })],
    [failed('find the audit record'), auditing({ outcome: 'user_group_not_found' })],
    [failed('check GET /webhook-origins', 'Expected 200 with '), publishing({}, 201)],
    [failed('check GET /webhook-origins'), publishing({ environment: 'uae' })],
    [failed('check GET /webhook-origins'), publishing({ addresses: [`${other}/32`] })],
    [failed('check GET /webhook-origins'), reserving()],
    [failed('check GET /webhook-origins'), { ...publishing({ reserve: [`${other}/32`] }), ...reserving() }],
    [', reserve 203.0.113.8', { ...publishing({ reserve: [`${reserve}/32`] }), ...reserving() }, 0],
    [failed('add a webhook', 'None'), answering('add-webhook', refused)],
    [failed('send an event', 'rejected 1 of 1'), refusedByQueue],
    [failed('find it in the delivery log', 'No delivery attempt within 120 s'), attempting()],
    ['delivered, ok, after', retrying, 0],
    [failed('receive the delivery', 'did not respond: failed, timeout'), failing(null, 'failed', 'timeout')],
    [failed('receive the delivery', 'returned 500'), failing(500)],
    [failed('check its source address', 'did not come from 203.0.113.7, or the'), failing(403)],
    [failed('verify its signature', "not that of the webhook's secret"), failing(401)],
    [failed('verify its signature', 'more than five minutes off'), failing(422)],
    [failed('verify its signature'), failing(200, 'delivered', 'ok')],
    [': 13 passed, in ', atName({}, json(origins)), 0],
    [pending(String.raw` record to 127\.0\.0\.1\. `), atName(failing(null, 'failed'), ...elsewhere), 0],
    [pending(String.raw`203\.0\.113\.9/32`), atName({}, json(origins), json(former)), 0],
    // Nothing else is excused: not after one failure, nor after one of the stack itself.
    [failed('receive the delivery'), atName(failing(null), json(origins))],
    [failed('receive the delivery'), atName(failing(null), ...elsewhere, json(origins))],
    [failed('receive the delivery'), atName(failing(null), { status: 500 })],
    [failed('clean up', 'None'), answering('remove-ephemeral-organizations', refused)],
    [
      /^skipped +check GET .* interrupted$(.|\n)*^passed .* clean up .*\n! error: Interrupted\. eu: 5 passed, 7 skipped,/m,
      interrupting,
    ],
    [/"passed":false,.*"outcome":"skipped","ms":null,/, { ...failing(null), args: ['--json'] }],
  ],
  'webhook add': [
    ['deliveries go to https://a.customer.com/%5Bb%5D\n', adding('https://a.customer.com/[b]'), 0],
    ['Write %23 for a "#".', adding('https://a.customer.com/#!/token'), 2],
    ['error: No.', answering('add-webhook', { error: { code: 'scheme_not_https', message: 'No.' } }), 2],
  ],
  'webhook list': [
    [/^! or-\S+ has no webhooks\.$/, listing(), 0],
    [/^\[\]$/, { ...listing(), ...usual('webhook list', '--json') }, 0],
  ],
  'webhook secret': [
    ['secrets created no MAC of 32 bytes.', noMac],
    ["is the environment's own probe: nobody needs its secret.", args(...ofProbe), 2],
  ],
  'webhook show': [[/^given up {6}none in 24 hours$/m, attempting(), 0]],
  'webhook test': [
    ['The receiver returned 500: given_up, server_error.\n! What receivers', failing(500)],
    ['The receiver did not respond: ', failing(null)],
    [/No delivery attempt within 60 s\.\n! The consumers may be dis.*origin-status/, attempting()],
    ['error: None.', answering('list-delivery-attempts', refused)],
    [/^delivered, /m, later, 0],
    // Nothing is sent that would wait.
    [/^! error: .* is disabled \(operator\)/, describing(disabled)],
    [/^delivered, /m, describing({ ...paused, pausedUntil: attempt.date }), 0],
    [
      /^! error: .* is paused until \S+: its last attempts got no response\..*\n! End the pause: .* enable/,
      describing(paused),
    ],
    [/is paused until 2099/, pausing],
    ['asked for time by Retry-After', describing({ ...paused, pauseReason: 'retry_after' })],
    [proofs, args(...ofProbe), 2],
  ],
  'webhook update': [
    [updates, ofTheWebhook(), 2],
    [updates, ofTheWebhook('--kinds', 'a', '--all-kinds', '--url', url), 2],
    [/^webhook /, ofTheWebhook('--kinds', 'a'), 0],
  ],
};

const rows = Object.entries(wrongs).flatMap(([path, all]) =>
  all.map((row): [path: string, ...Row] => [path, ...row]),
);
it.each(rows)('%s says %s', async (path, said, wrong, exitCode: 0 | 1 | 2 = 1) => {
  const found = await run(wordsOf(path, wrong.args), wrong);
  const printed = typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said);
  expect(found).toMatchObject({ exitCode, printed });
  if (exitCode === 2) expect(requests().filter((line) => /^(events|UpdateStack) /.test(line))).toEqual([]);
});

it('an invocation without a response is not repeated: it may have run', async () => {
  await run(wordsOf('local token'), invoking({ status: 503 }), true);
  expect(account().calls).toHaveLength(1);
});

it('redeliver requests each event once, for any number of pages', async () => {
  const ids = Array.from({ length: 1_001 }, (_, index) => `evt_${index}`);
  const operations: Operations = {
    'list-stored-events': ({ after, limit }) => {
      const start = ids.indexOf(after) + 1;
      const page = ids.slice(start, start + limit);
      return { events: page.map((eventId) => ({ ...stored, eventId, delivered: false })) };
    },
  };
  const words = wordsOf('redeliver', [...ofWebhook, '--since', '2h', '--undelivered', '--json']);
  const { results } = await run(words, { operations });
  expect(JSON.parse(results)).toEqual({ redelivered: 1_001, delivered: 0, dryRun: false });
  const sent = account().calls.flatMap(({ input: { Entries = [] } }) => Entries);
  const requested = sent.map(({ MessageBody }) => parseRedelivery(MessageBody));
  expect(requested).toMatchObject(ids.map((eventId) => ({ ok: true, value: { webhookId, eventId } })));
  expect(requests()).toContainEqual(expect.stringMatching(/^list-stored-events .*"undelivered":true/));
});

it('converts signatures of KMS, with integers of any length', () => {
  const { privateKey, publicKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // One in 128 signatures has an integer with a leading zero byte, so a thousand cover every relevant length.
  for (let message = 0; message < 1_000; message++) {
    const data = Buffer.from(String(message));
    const signature = joseSignature(sign('sha256', data, { key: privateKey, dsaEncoding: 'der' }));
    expect(verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  }
});

it.each([withSla, withoutSla])('$name: only deployed production requires --allow-production', async (row) => {
  const { name, stackId, serviceLevelAgreement } = row;
  const place = ['--environment', name, '--outputs', writeOutputs(folder(), { [stackId]: {} })];
  for (const [path, args] of Object.entries(everyCommand).filter(([path]) => isGuarded(path))) {
    const isRefused = async (...more: string[]) => {
      const { exitCode, stderr } = await runWallet([...path.split(' '), ...args, ...place, ...more]);
      // Otherwise they go on, to an output that is missing here, which a dry run may not need.
      expect(exitCode === 1 || more.includes('--dry-run')).toBe(true);
      return new RegExp(`${name} is in production.*\\n.*--allow-production`).test(stderr);
    };
    expect([path, await isRefused()]).toEqual([path, serviceLevelAgreement]);
    expect([path, await isRefused('--allow-production')]).toEqual([path, false]);
    if (has(path, '--dry-run')) expect(await isRefused('--dry-run')).toBe(false);
  }
});
