import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
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
  const ended: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ended.splice(0)) await end();
  });

  it.each<[string, url: () => string | Promise<string>, line: RegExp, remedy: string]>([
    ['no such name', () => 'http://sqs.nowhere.invalid', /^getaddrinfo E/, 'the name is not found'],
    [
      'nothing listens',
      async () => `http://127.0.0.1:${await unusedPort()}`,
      /ECONNREFUSED/,
      'Nothing listens',
    ],
    ['a connection that breaks', () => aws.url, /^socket hang up$/, 'Check the network: a firewall'],
    [
      "an inspecting proxy's certificate",
      async () => {
        const authority = await createAuthority('Inspecting proxy');
        const server = createServer(await authority.issue({ name: '127.0.0.1' }));
        await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
        ended.push(() => new Promise((closed) => server.close(closed)));
        return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
      },
      /certificate/,
      'NODE_EXTRA_CA_CERTS',
    ],
  ])('%s: the line says so, and the remedy is its own', async (_, url, line, remedy) => {
    answerAsSqs(undefined);
    ended.push(setVariables({ AWS_ENDPOINT_URL_SQS: await url() }));
    const { exitCode, stderr } = await sendEvent();
    expect(exitCode).toBe(1);
    const [, reason = stderr, told] = /^error: sqs:SendMessage failed: (.*)\.\n(.*)\n$/.exec(stderr) ?? [];
    expect(reason).toMatch(line);
    expect(told).toContain(remedy);
  });

  it('and without credentials: says where to sign in', async () => {
    ended.push(setVariables({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined }));
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
  region.answer({
    'describe-identity': () => ({ headers: { 'content-type': 'text/html' }, body: '<html></html>' }),
  });
  const caller = ['--caller', 'us-aaaaa-bbbbb-cccccccccccccccc'];
  expect(await wallet('token', '--outputs', region.outputs, ...caller)).toEqual(
    failedWith(
      `lambda:InvokeFunction ${foreign('status 200, text/html')}`,
      `Another program has the port of the environment. Start it: ${startCommand}`,
    ),
  );
  await region.stop();
});
