import { runCommandLine } from '../../cli/command-line';
import { createTerminal } from '../../cli/shell/terminal';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { flagsOf, writeOutputs } from '../support/wallet-command';
import {
  type Replies,
  type Reply,
  refusal,
  result,
  useAccount,
  withoutStacks,
  withResources,
} from './account';
import {
  attempt,
  deletion,
  disabled,
  everyCommand,
  healthy,
  json,
  type Operations,
  origins,
  paused,
  record,
  stackAt,
  webhook,
} from './every-command';
import { useInstantWaits } from './instant-waits';
import { OriginAccount, reserve, resource } from './origin/origin-account';

const folder = temporaryFolder();
const account = useAccount();
const noon = Date.parse('2026-11-20T12:00:00Z');
useInstantWaits(noon);

/** @returns what a command prints, its notes marked with `!` */
async function run(path: string, more: readonly string[], replies: Replies, outputs: object = {}) {
  account().answer(replies);
  jest.setSystemTime(noon);
  const file = writeOutputs(folder(), { [first.stackId]: { ...stackAt(account().url), ...outputs } });
  const allowed = flagsOf(path)?.includes('--allow-production') ? ['--allow-production'] : [];
  let printed = '';
  const write = (mark: string) => (text: string) => {
    printed += text.replace(/^(?=.)/gm, mark);
  };
  const terminal = createTerminal({ write: write('') }, { write: write('! ') });
  const words = [...path.split(' '), ...(everyCommand[path] ?? []), ...more];
  const exitCode = await runCommandLine([...words, ...allowed, '--outputs', file], terminal);
  return { exitCode, words: words.join(' '), printed: printed.trimEnd().replaceAll(file, 'FILE') };
}

/** What it asked of the operations function, and what it put on queues. */
const asked = () =>
  account().calls.flatMap(({ action, input }) =>
    action === 'Invoke'
      ? `> ${input.operation} ${JSON.stringify(input.input)}`
      : (input.Entries ?? []).map(
          ({ MessageGroupId, MessageBody }: Readonly<Record<string, string>>) =>
            `> ${input.QueueUrl}, ${MessageGroupId}: ${MessageBody}`,
        ),
  );

/** JWTs decoded, and without what is drawn. */
const stable = (text: string) =>
  text
    .replaceAll(/([\w-]{20,})\.([\w-]{20,})\.[\w-]{86}/g, (_, ...parts: string[]) =>
      parts
        .slice(0, 2)
        .map((part) => Buffer.from(part, 'base64url'))
        .join('.'),
    )
    .replaceAll(
      /[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<="Approvers )[0-9a-f]{6}/g,
      'DRAWN',
    );

const usesReserve = { WebhookOriginZone: '1', WebhookOriginUsesReserve: 'yes' };
const fromReserve = () => Object.assign(new OriginAccount({ hasReserve: true }), { parameters: usesReserve });
const unlike = '{"btc":1,"BTC":[1.0,0.1,1e22,9007199254740992],"wei":9007199254740993,"tiny":1e-400}';
const variants: readonly (readonly [command: string, args: readonly string[], origin?: OriginAccount])[] = [
  ['local send-event', ['--dry-run', '--data', ` ${unlike} `]],
  ['move-origin', ['--dry-run']],
  ['origin-status', [], fromReserve()],
  ['webhook rotate', ['--again']],
];

it('what commands print and ask for', async () => {
  const texts: string[] = [];
  const plain = Object.keys(everyCommand).map((path): (typeof variants)[number] => [path, []]);
  for (const [path, args, origin] of [...plain, ...variants]) {
    const { words, printed } = await run(path, args, healthy({}, origin));
    const calls = asked();
    const inJson = await run(path, [...args, '--json'], healthy({}, origin));
    const results = inJson.printed.split('\n').filter((line) => !line.startsWith('! '));
    texts.push([`$ wallet ${words}`, printed, ...calls, ...results, ''].join('\n'));
  }
  expect(stable(texts.join('\n')).replaceAll(account().url, 'URL')).toMatchSnapshot();
});

/** All is well, but for this. */
interface Wrong {
  readonly operations?: Operations;
  readonly replies?: Replies;
  readonly origin?: Partial<OriginAccount>;
  /** Of the stack, in the file. */
  readonly outputs?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** @default 1 */
  readonly exitCode?: number;
}

const answering = (operation: string, answer: object): Wrong => ({
  operations: { [operation]: () => answer },
});
const refused = { error: { code: 'no', message: 'None.' } };
const invoking = (reply: Reply): Wrong => ({ replies: { 'lambda:Invoke': () => reply } });
const unhandled = { headers: { 'x-amz-function-error': 'Unhandled' }, body: '{"errorMessage":"no table"}' };
const attempting = (...changes: object[]) =>
  answering('list-delivery-attempts', { attempts: changes.map((change) => ({ ...attempt, ...change })) });
const failing = (status: number | null, outcome = 'given_up', reason = 'server_error') =>
  attempting({ status, outcome, reason });
const auditing = (...changes: object[]) =>
  answering('list-audit-records', { records: changes.map((change) => ({ ...record, ...change })) });
const describing = (change: object) => answering('describe-webhook', { ...webhook, ...change });
const listing = (...webhooks: object[]) => answering('list-webhooks', { webhooks });
const identity = (change: object) => answering('describe-identity', { organizationId: 'or', ...change });
const deleting = (...replies: Reply[]): Wrong => ({
  replies: { [deletion]: () => replies.shift() ?? json({}) },
});
const publishing = (change: object, status = 200): Wrong => ({
  replies: { 'api:GET /webhook-origins': () => json({ ...origins, ...change }, status) },
});
const withReserve = { outputs: { WebhookOriginReserveAddress: reserve } };
const refusing = (call: string): Wrong => ({ replies: { [call]: () => refusal('AccessDenied') } });
const onQueue = { Failed: [{ Id: '0', SenderFault: false, Code: 'InternalError' }] };
const sending: Wrong = { replies: { 'sqs:SendMessageBatch': () => result(onQueue) } };
const failed = (step: string, found = '') => new RegExp(`^failed .*  ${step}  .*${found}`, 'm');
const withoutReceiver = 'No enabled webhook of or-aaaaa-bbbbb-cccccccccccccccc receives wallet.created';
const onceDeleted = { ...resource('EC2::NatGateway', 'nat-other'), ResourceStatus: 'DELETE_COMPLETE' };
const neverCreated = { ...resource('EC2::NatGateway', ''), PhysicalResourceId: undefined };

const noGateways: Wrong = { replies: { 'ec2:DescribeNatGateways': () => result({ natGatewaySet: [] }) } };
const changed = (origin: Partial<OriginAccount>): Wrong => ({ origin, exitCode: 0 });

/** For each check of a command: an answer that this check alone finds wrong, and what it says. */
const wrongAnswers: readonly (readonly [command: string, said: string | RegExp, wrong: Wrong])[] = [
  ['local token', /^! error: None\.$/, answering('describe-identity', refused)],
  ['local token', /failed to run describe-identity: no table\.\n! See its log in Cl/, invoking(unhandled)],
  ['local token', 'does not match this version', invoking({ body: '{"ok":true}' })],
  ['local token', 'lambda:InvokeFunction failed: ', invoking({ status: 503 })],
  [
    'local token',
    / is deactivated; the API will refuse it\.\neyJ/,
    { ...identity({ active: false }), exitCode: 0 },
  ],

  ['audit', /^! No audit records of ug-\S+\.$/, { ...auditing(), exitCode: 0 }],
  [
    'delete-group',
    /^403 .*\n! error: The API did not delete ug-\S+: x\.$/,
    deleting(json({ code: 'x' }, 403)),
  ],
  ['delete-group', /: 404\.\n! Either it is deleted already, .* audit --group ug-/, deleting(json({}, 404))],
  ['delete-group', /: 201\.$/, deleting(json({}, 201))],

  ['deliveries', /^! No attempts yet in eu, or none that match\.$/, { ...attempting(), exitCode: 0 }],
  [
    'deliveries',
    `! The latest 100. Earlier ones: --until ${attempt.date}`,
    { ...attempting(...Array(100).fill({})), exitCode: 0 },
  ],
  ['local send-event', withoutReceiver, { ...listing(disabled), exitCode: 0 }],
  ['local send-event', withoutReceiver, { ...listing({ ...webhook, kinds: ['a'] }), exitCode: 0 }],
  ['local send-event', /^evt_/, { ...listing({ ...webhook, kinds: null }), exitCode: 0 }],
  ['local send-event', 'WebhookEventsQueueUrl rejected 1 of 1 messages: InternalError.', sending],
  ['redeliver', /is disabled \(operator\).*\n! Enable it first: .* webhook enable/, describing(disabled)],

  ['webhook list', /^! or-\S+ has no webhooks\.$/, { ...listing(), exitCode: 0 }],
  [
    'webhook secret',
    'secrets created no MAC of 32 bytes.',
    { replies: { 'kms:GenerateMac': () => result({ Mac: 'AAAA' }) } },
  ],
  ['webhook show', /^given up {6}none in 24 hours$/m, { ...attempting(), exitCode: 0 }],
  ['webhook test', 'The receiver returned 500: given_up, server_error.\n! What receivers', failing(500)],
  ['webhook test', 'The receiver did not respond: ', failing(null)],
  [
    'webhook test',
    /No delivery attempt within 60 s\.\n! The consumers may be dis.*origin-status/,
    attempting(),
  ],
  ['webhook test', 'error: None.', answering('list-delivery-attempts', refused)],
  ['webhook test', 'is disabled (operator)', describing(disabled)],
  ['webhook test', /^delivered, /m, { ...describing({ ...paused, pausedUntil: attempt.date }), exitCode: 0 }],
  [
    'webhook test',
    /is paused until 2026-11-20T12:30:00\.000Z: its last attempts got no response\..*\n! End the pause: .* webhook enable/,
    describing(paused),
  ],
  ['webhook test', 'asked for time by Retry-After', describing({ ...paused, pauseReason: 'retry_after' })],

  ['smoke', failed('create an ephemeral organization', 'None'), answering('seed', refused)],
  ['smoke', failed('delete its group through the API', 'Expected 200 {}'), deleting(json({ a: 1 }))],
  ['smoke', failed('delete its group through the API', 'Expected 200 {}'), deleting(json({}, 202))],
  ['smoke', "A proxy or a network's sign-in page", deleting({ body: '<title>Sign in</title>' })],
  ['smoke', failed('delete it again: expect 404', 'returned 200'), deleting()],
  [
    'smoke',
    failed('delete it again: expect 404'),
    deleting(json({}), json({ code: 'route_not_found' }, 404)),
  ],
  [
    'smoke',
    failed('delete it again: expect 404'),
    deleting(json({}), json({ code: 'user_group_not_found' }, 403)),
  ],
  ['smoke', failed('find the audit record', 'None of the 0'), auditing()],
  ['smoke', failed('find the audit record', 'None of the 1'), auditing({ identityId: 'us-2' })],
  ['smoke', failed('find the audit record'), auditing({ outcome: 'user_group_not_found' })],
  ['smoke', failed('check GET /webhook-origins', 'Expected 200 with '), publishing({}, 201)],
  ['smoke', failed('check GET /webhook-origins'), publishing({ environment: 'uae' })],
  ['smoke', failed('check GET /webhook-origins'), publishing({ addresses: ['203.0.113.9/32'] })],
  ['smoke', failed('check GET /webhook-origins'), publishing({ reserve: [] })],
  ['smoke', failed('check GET /webhook-origins'), withReserve],
  [
    'smoke',
    failed('check GET /webhook-origins'),
    { ...publishing({ reserve: ['203.0.113.9/32'] }), ...withReserve },
  ],
  ['smoke', failed('add a webhook', 'None'), answering('add-webhook', refused)],
  ['smoke', failed('send an event', 'rejected 1 of 1'), sending],
  ['smoke', failed('find it in the delivery log', 'No delivery attempt within 120 s'), attempting()],
  [
    'smoke',
    failed('receive the delivery', 'did not respond: failed, timeout'),
    failing(null, 'failed', 'timeout'),
  ],
  ['smoke', failed('receive the delivery', 'returned 500'), failing(500)],
  ['smoke', failed('check its source address', 'did not come from 203.0.113.7, or the'), failing(403)],
  ['smoke', failed('verify its signature', "not that of the webhook's secret"), failing(401)],
  ['smoke', failed('verify its signature', 'more than five minutes off'), failing(422)],
  ['smoke', failed('verify its signature'), failing(200, 'delivered', 'ok')],
  ['smoke', failed('clean up', 'None'), answering('remove-ephemeral-organizations', refused)],

  [
    'origins',
    /has no output WebhookOriginAddress/,
    { outputs: { WebhookOriginAddress: undefined as never } },
  ],
  ['origins', /"10\.0\.0\.1".*not a public/, { outputs: { WebhookOriginAddress: '10.0.0.1' } }],
  ['origins', /Reserve.* not a public/, { outputs: { WebhookOriginReserveAddress: '203.0.113' } }],

  ['origin-status', 'no stack WalletEu in eu-central-1', { replies: withoutStacks }],
  ['origin-status', 'no stack WalletEu in eu-central-1', { origin: { statuses: ['REVIEW_IN_PROGRESS'] } }],
  ['origin-status', 'has no parameter WebhookOriginZone or no', { origin: { parameters: {} } }],
  ['origin-status', 'has no parameter WebhookOriginZone or no', { origin: { outputs: {} } }],
  [
    'origin-status',
    /no Elastic IP 203\.0\.113\.7 (.|\n)*! Find it first:/,
    { origin: { hasElasticIp: false } },
  ],
  ['origin-status', /^gateway {6}nat-1, available$/m, { origin: { resources: [onceDeleted] }, exitCode: 0 }],
  ['origin-status', /^gateway {6}nat-1, available$/m, { origin: { resources: [neverCreated] }, exitCode: 0 }],
  [
    'origin-status',
    /^stack {8}WalletEu$(.|\n)*^zone {9}unknown$/m,
    refusing('cloudformation:DescribeStacks'),
  ],
  ['origin-status', '"zone":null,', { ...refusing('cloudformation:DescribeStacks'), args: ['--json'] }],
  ['origin-status', /^gateway {6}unknown$/m, refusing('cloudformation:ListStackResources')],
  ['origin-status', /^gateway {6}unknown$/m, refusing('ec2:DescribeNatGateways')],
  ['origin-status', 'unknown: lambda:GetEventSourceMapping failed', refusing('lambda:GetEventSourceMapping')],
  ['origin-status', /^\w+Queue +unknown +unknown +125 min$/m, refusing('sqs:GetQueueAttributes')],
  ['origin-status', /^\w+Queue +2 +0 +unknown$/m, refusing('monitoring:GetMetricStatistics')],
  // What was changed outside CloudFormation.
  ['origin-status', 'gateway nat-1 is pending', changed({ gateway: { state: 'pending' } })],
  ['origin-status', 'gateway nat-1 is deleted', { ...noGateways, exitCode: 0 }],
  [
    'origin-status',
    /nat-1 is in subnet subnet-3, not in .* zone 1/,
    changed({ gateway: { subnetId: 'subnet-3' } }),
  ],
  [
    'origin-status',
    'nat-1 sends from no address, not 203.0.113.7',
    changed({ gateway: { natGatewayAddressSet: [] } }),
  ],
  [
    'origin-status',
    /^! warning: the consumer .* is disabled$/m,
    changed({ consumerStates: ['Enabled', 'Disabled'] }),
  ],
  [
    'origin-status',
    /the stack has no gateway\n.*\n! Attach the origin to zone 2, /,
    { replies: withResources() },
  ],
  [
    'origin-status',
    /no gateway has the address\n.*\n! Attach the origin to zone 1, .* move-origin --zone 1 --yes /,
    { origin: { parameters: { WebhookOriginZone: 'none' } } },
  ],
  [
    'move-origin',
    'is in zone 2, but gateway nat-2 is pending.',
    { origin: { gateway: { state: 'pending' } } },
  ],
];

it.each(wrongAnswers)('%s says %s', async (path, said, wrong) => {
  const { operations, replies, origin = {}, outputs, args = [], exitCode = 1 } = wrong;
  const answers = healthy(operations, Object.assign(new OriginAccount(), origin));
  const found = await run(path, args, { ...answers, ...replies }, outputs);
  const printed = typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said);
  expect(found).toMatchObject({ exitCode, printed });
});
