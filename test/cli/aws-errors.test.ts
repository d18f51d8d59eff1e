import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { callAws, noStack } from '../../cli/aws';
import { startCommand } from '../../cli/pasted-command';
import { createAuthority } from '../support/certificates';
import { first } from '../support/rows';
import { unusedPort } from '../support/unused-port';
import { type Answer, page, refusal, setVariables, startAwsEndpoint } from './aws-endpoint';
import { startRegion, wallet } from './region';

let aws: Awaited<ReturnType<typeof startAwsEndpoint>>;
beforeAll(async () => {
  const key = `arn:aws:kms:${first.region}:123456789012:key/one`;
  const queue = `https://sqs.${first.region}.amazonaws.com/123456789012`;
  aws = await startAwsEndpoint(() => ({
    [first.stackId]: {
      OperationsFunctionName: 'operations',
      TokenSigningKeyArn: key,
      WebhookSecretsKeyArn: key,
      WebhookOriginAddress: '203.0.113.7',
      WebhookEventsQueueUrl: `${queue}/events`,
      WebhookDeliveryQueueUrl: `${queue}/deliveries`,
      WebhookDeliveryDeadLetterQueueUrl: `${queue}/dead-letters`,
    },
  }));
});
afterAll(() => aws.close());

const run = (...args: string[]) => wallet(...args, '--outputs', aws.outputs);
const organization = 'or-aaaaa-bbbbb-cccccccccccccccc';
const sending = ['send-event', '--organization', organization, '--kind', 'a.b', '--allow-production'];
const sendEvent = () => run(...sending);
/** Of SQS; the operations function knows the organization. */
const answerAsSqs = (answer: Answer) =>
  aws.answer(({ url }) =>
    url.includes('/functions/')
      ? json({ ok: true, result: { webhooks: [{ enabled: true, kinds: null }] } })
      : answer,
  );

/** Jest's own errors are none to the SDK when they come from Node.js itself, so those of the network take a process. */
const asProcess = (env: NodeJS.ProcessEnv) =>
  promisify(execFile)(
    process.execPath,
    ['--require', 'tsx/cjs', 'bin/wallet.ts', ...sending, '--outputs', aws.outputs],
    { cwd: resolve(__dirname, '../..'), env: { ...process.env, ...env } },
  ).then(
    () => Promise.reject(new Error('The command succeeded.')),
    (failure: { code: number; stdout: string; stderr: string }) => failure,
  );
const failedWith = (line: string, remedy: string) => ({
  exitCode: 1,
  stdout: '',
  stderr: `error: ${line}.\n${remedy}\n`,
});

const text = (body: string, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body,
});
const json = (body: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const foreign = (what: string) => `was not answered as AWS answers: ${what}`;
const proxy = expect.stringMatching(/^A proxy, the sign-in page of a network, .* let AWS through\.$/);
const refused = (name: string, remedy: string): [string, Answer, string, string] => [
  name,
  refusal(name, 'So AWS said.'),
  `failed: ${name}: So AWS said`,
  expect.stringContaining(remedy),
];

it.each<[string, Answer, line: string, remedy: string]>([
  ['a page with 200', page(200), foreign('status 200, text/html'), proxy],
  ['a page with 502', page(502), foreign('status 502, text/html'), proxy],
  ['a redirect', { status: 302, headers: { location: '/' } }, foreign('status 302, no content type'), proxy],
  ['an empty 500', { status: 500 }, foreign('status 500, no content type'), proxy],
  ['an empty 200', { status: 200 }, foreign('status 200, no content type'), proxy],
  ['text with 503', text('upstream connect error', 503), foreign('status 503, text/plain'), proxy],
  ['another API', json({ error: 'gone' }, 404), foreign('status 404, application/json'), proxy],
  refused('AccessDenied', 'Sign in as someone who has sqs:SendMessage.'),
  refused('ThrottlingException', 'Wait a minute'),
  refused('RequestThrottled', 'Wait a minute'),
  refused('ExpiredToken', 'Sign in again'),
  refused('ExpiredTokenException', 'Sign in again'),
  refused('UnrecognizedClientException', 'AWS_ACCESS_KEY_ID'),
  refused('InvalidClientTokenId', 'AWS_ACCESS_KEY_ID'),
  refused('OptInRequired', 'registration'),
  refused('InvalidSignatureException', 'Set the clock'),
  refused('QueueDoesNotExist', 'the outputs file is of this deployment'),
  [
    'a fault of AWS',
    refusal('InternalFailure', 'Oops', 500),
    'failed: InternalFailure: Oops',
    expect.stringContaining('AWS Health Dashboard'),
  ],
])('an operator sees what AWS said, and a remedy: %s', async (_, answer, line, remedy) => {
  answerAsSqs(answer);
  const { exitCode, stdout, stderr } = await sendEvent();
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr.trimEnd().split('\n')).toEqual([`error: sqs:SendMessage ${line}.`, remedy]);
});

it('every command says alike that a stack is missing', async () => {
  const missing = Object.assign(new Error('Stack with id WalletEu does not exist'), {
    name: 'ValidationError',
    $fault: 'client' as const,
  });
  const asked = callAws({ environment: first, local: false }, 'cloudformation:DescribeStacks', () =>
    Promise.reject(missing),
  );
  await expect(asked).rejects.toMatchObject({ message: noStack('WalletEu').message });
});

describe('without a connection', () => {
  let restore: () => void = () => undefined;
  let tls: Server | undefined;
  afterEach(async () => {
    restore();
    restore = () => undefined;
    await new Promise((closed) => (tls ? tls.close(closed) : closed(undefined)));
    tls = undefined;
  });

  it.each<[string, url: () => Promise<string>, line: RegExp, remedy: string]>([
    [
      'no such name',
      async () => 'http://sqs.nowhere.invalid',
      /^getaddrinfo (ENOTFOUND|EAI_AGAIN) sqs\.nowhere\.invalid$/,
      'Check the network, its name server and the VPN: the name is not found.',
    ],
    [
      'nothing listens',
      async () => `http://127.0.0.1:${await unusedPort()}`,
      /^connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
      'Nothing listens there: check the proxy, the VPN and AWS_ENDPOINT_URL.',
    ],
    [
      'a connection that breaks',
      async () => aws.url,
      /^socket hang up$/,
      'Check the network: a firewall, a proxy or a missing VPN lets nothing through.',
    ],
    [
      "an inspecting proxy's certificate",
      async () => {
        const authority = await createAuthority('Inspecting proxy');
        tls = createServer(await authority.issue({ name: '127.0.0.1' }));
        await new Promise<void>((listening) => tls?.listen(0, '127.0.0.1', listening));
        return `https://127.0.0.1:${(tls.address() as AddressInfo).port}`;
      },
      /certificate/,
      "A proxy that inspects TLS may stand between: name a file with its root certificate in NODE_EXTRA_CA_CERTS. Otherwise check this machine's clock.",
    ],
  ])('%s: the line says so, and the remedy is its own', async (_, url, line, remedy) => {
    answerAsSqs(undefined);
    const { code, stdout, stderr } = await asProcess({ AWS_ENDPOINT_URL_SQS: await url() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const [, reason = '', told] = /^error: sqs:SendMessage failed: (.*)\.\n(.*)\n$/.exec(stderr) ?? [];
    expect(reason || stderr).toMatch(line);
    expect(told).toBe(remedy);
  });

  it('and without credentials: says where to sign in', async () => {
    restore = setVariables({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined });
    answerAsSqs(undefined);
    expect(await sendEvent()).toEqual(
      failedWith(
        'lambda:InvokeFunction failed: Could not load credentials from any providers',
        'Sign in to the account (such as "aws sso login") and name the profile in AWS_PROFILE.',
      ),
    );
    expect(aws.requests).toEqual([]);
  });
});

describe('a page, and an empty answer, with status 200', () => {
  const identity = json({
    ok: true,
    result: {
      identityId: 'us-1',
      organizationId: organization,
      kind: 'ServiceAccount',
      active: true,
      enabled: true,
    },
  });
  const caller = 'us-aaaaa-bbbbb-cccccccccccccccc';
  it.each<[action: string, command: readonly string[]]>([
    ['lambda:InvokeFunction', ['seed', '--allow-production']],
    ['kms:GetPublicKey', ['token', '--caller', caller]],
    ['cloudformation:DescribeStacks', ['move-origin', '--zone', '2', '--dry-run']],
  ])('are no answer to %s', async (action, command) => {
    for (const [answer, type] of [
      [page(200), 'text/html'],
      [{ body: '<html></html>' }, 'no content type'],
      [{ status: 200 }, 'no content type'],
    ] as const) {
      aws.answer(({ url }) => (command[0] === 'token' && url.includes('/functions/') ? identity : answer));
      expect(await run(...command)).toMatchObject({
        exitCode: 1,
        stdout: '',
        stderr: expect.stringContaining(`error: ${action} ${foreign(`status 200, ${type}`)}.\nA proxy`),
      });
    }
  });

  it.each<[command: readonly string[], line: RegExp]>([
    [
      ['webhook', 'test', '--webhook', 'wh-aaaaa-bbbbb-cccccccccccccccc'],
      /^error: The operations .* without url\.$/m,
    ],
    [['token', '--caller', caller], /^error: arn:\S+ is not a key of curve P-256/],
    [
      ['deliveries', '--event', 'evt_1'],
      /^error: The operations function answered something without attempts\.$/m,
    ],
    [
      ['audit', '--group', 'ug-aaaaa-bbbbb-cccccccccccccccc'],
      /^error: The operations .* without records\.$/m,
    ],
    [['webhook', 'list', '--organization', organization], /^error: The operations .* without webhooks\.$/m],
  ])('nor is the JSON of another service an answer to %j', async (command, line) => {
    aws.answer(({ url }) => (url.includes('/functions/') ? identity : json({ PublicKey: 'AAAA' })));
    const { exitCode, stdout, stderr } = await run(...command);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(line);
  });

  it('are failed steps of smoke, which names no bug', async () => {
    aws.answer(() => page(200));
    const { exitCode, stdout, stderr } = await run('smoke', '--without-webhook', '--allow-production');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(foreign('status 200, text/html'));
    expect(stderr).toContain('A proxy, the sign-in page');
    expect(stdout + stderr).not.toMatch(/a bug|\n +at /);
  });
});

it('on this machine, another program has the port of the environment', async () => {
  const region = await startRegion();
  region.answer({ lambda: () => ({ headers: { 'content-type': 'text/html' }, body: '<html></html>' }) });
  const caller = ['--caller', 'us-aaaaa-bbbbb-cccccccccccccccc'];
  expect(await wallet('token', '--outputs', region.outputs, ...caller)).toEqual(
    failedWith(
      `lambda:InvokeFunction ${foreign('status 200, text/html')}`,
      `Another program has the port of the environment. Start it: ${startCommand}`,
    ),
  );
  await region.remove();
});
