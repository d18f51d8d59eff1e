import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environments } from '../../lib/environments';
import { deletionCommand, type SampleData, summary, webhookCommands } from '../../lib/local/banner';
import { openLogs } from '../../lib/local/logs';

const running = environments.map((environment, index) => ({
  environment,
  baseUrl: `http://127.0.0.1:800${index + 1}`,
  outputs: {
    DashboardUrl: `http://127.0.0.1:810${index + 1}`,
    WebhookOriginAddress: '127.0.0.1',
    ServiceLevelAgreement: environment.serviceLevelAgreement ? 'yes' : 'no',
    Deprecated: String(environment.deprecation !== undefined),
  },
}));

it('the table has a line for each environment, and says what a deprecated one is for', () => {
  expect(summary(running, (text) => text)).toBe(
    [
      'NAME     REGION        BASE ADDRESS           DASHBOARD              WEBHOOK ORIGIN  SLA',
      'eu       eu-central-1  http://127.0.0.1:8001  http://127.0.0.1:8101  127.0.0.1       yes',
      'uae      me-central-1  http://127.0.0.1:8002  http://127.0.0.1:8102  127.0.0.1       yes',
      'staging  eu-west-3     http://127.0.0.1:8003  http://127.0.0.1:8103  127.0.0.1       no   deprecated: test funds only',
    ].join('\n'),
  );
});

const demonstration: SampleData = {
  running: running[0] as (typeof running)[number],
  organizationId: 'or-1',
  userGroupId: 'ug-1',
  callerId: 'us-1',
};

it('the commands to paste have a receiver get a webhook', () => {
  const place = { projectRoot: '/srv/wallet', outputsFile: '/srv/wallet/.local/outputs.json' };
  const { receive, send } = webhookCommands(demonstration, place);
  const stub = 'npm() { shift 6; printf "<%s>" "$@"; echo; }';
  const printed = execFileSync('sh', ['-c', [stub, receive, send].join('\n')], { encoding: 'utf8' });
  const common = '<--environment><eu><--outputs></srv/wallet/.local/outputs.json>';
  expect(printed.trimEnd().split('\n')).toEqual([
    `<receive>${common}`,
    `<webhook><add>${common}<--organization><or-1><--url><http://127.0.0.1:8010/>`,
    `<send-event>${common}<--organization><or-1><--kind><wallet.created><--data><{"walletId":"wa-1"}>`,
  ]);
});

it.each(['/srv/wallet', "/srv/o'brien's wallet", '/srv/$HOME `id`'])(
  'the curl to paste reaches the project in %s',
  (projectRoot) => {
    const outputsFile = `${projectRoot}/.local/outputs.json`;
    const command = deletionCommand(demonstration, { projectRoot, outputsFile });
    const stubs = ['npm() { printf "<%s>" "$@"; }', 'curl() { printf "%s\\n" "$@"; }'];
    const printed = execFileSync('sh', ['-c', [...stubs, command].join('\n')], { encoding: 'utf8' });
    const wallet = ['--prefix', projectRoot, 'run', '-s', 'wallet', '--'];
    const common = ['--environment', 'eu', '--outputs', outputsFile, '--caller', 'us-1'];
    const called = (...args: string[]) => [...wallet, ...args].map((arg) => `<${arg}>`).join('');
    const path = '/auth/user-groups/ug-1';
    expect(printed.trimEnd().split('\n')).toEqual([
      '-i',
      '-X',
      'DELETE',
      `http://127.0.0.1:8001${path}`,
      '-H',
      `Authorization: Bearer ${called('token', ...common)}`,
      '-H',
      `X-SVC-USERACTION: ${called('user-action', ...common, '--method', 'DELETE', '--path', path)}`,
    ]);
  },
);

describe('logs', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'logs-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  async function written(...lines: string[]) {
    const errors: string[] = [];
    const logs = openLogs(directory, (name, message) => errors.push(`${name}: ${message}`));
    for (const line of lines) logs.writeFunction('DeleteUserGroupD0AD1D06', line);
    await logs.close();
    return { errors, text: readFileSync(join(directory, 'DeleteUserGroup.log'), 'utf8') };
  }

  it('are kept whole, in a file named after the function', async () => {
    const { text, errors } = await written('one', '{"level":"INFO","message":"fine"}');
    expect(text).toBe('one\n{"level":"INFO","message":"fine"}\n');
    expect(errors).toEqual([]);
  });

  it.each([
    [
      '{"level":"ERROR","message":"Deletion failed","error":{"message":"no such role"}}',
      'Deletion failed: no such role',
    ],
    ['{"level":"ERROR","message":"Unavailable","reason":"timeout"}', 'Unavailable: timeout'],
    ['Invoke Error {"errorType":"Error","errorMessage":"boom","trace":[]}', 'boom'],
    [
      'RequestId: 1 Error: Task timed out after 5.00 seconds',
      'RequestId: 1 Error: Task timed out after 5.00 seconds',
    ],
  ])('tell of the error in %s', async (line, message) => {
    expect((await written(line)).errors).toEqual([`DeleteUserGroup: ${message}`]);
  });
});
