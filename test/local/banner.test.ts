import { execFileSync } from 'node:child_process';
import { deletionCommand, type SampleData, summary, webhookCommands } from '../../local/banner';
import { first } from '../support/rows';

const { deprecation: _, ...row } = first;
const running = [
  { ...row, name: 'one', region: 'eu-central-1', serviceLevelAgreement: true, testFundsOnly: false },
  {
    ...row,
    name: 'another',
    region: 'ca-central-1',
    serviceLevelAgreement: false,
    testFundsOnly: true,
    deprecation: { since: '2026-11-20' },
  },
].map((environment, index) => ({
  environment,
  baseUrl: `http://127.0.0.1:800${index + 1}`,
  outputs: {
    DashboardUrl: `http://127.0.0.1:810${index + 1}`,
    WebhookOriginAddress: '127.0.0.1',
    ...(index === 1 && { WebhookOriginReserveAddress: '127.0.0.2' }),
    ServiceLevelAgreement: environment.serviceLevelAgreement ? 'yes' : 'no',
    Deprecated: String('deprecation' in environment),
  },
}));

it('the table has a line for each environment, and says what a deprecated one is for', () => {
  expect(summary(running, (text) => text)).toBe(
    [
      'NAME     REGION        BASE ADDRESS           DASHBOARD              WEBHOOK ORIGIN                SLA',
      'one      eu-central-1  http://127.0.0.1:8001  http://127.0.0.1:8101  127.0.0.1                     yes',
      'another  ca-central-1  http://127.0.0.1:8002  http://127.0.0.1:8102  127.0.0.1, reserve 127.0.0.2  no   deprecated: test funds only',
    ].join('\n'),
  );
});

const sample: SampleData = {
  running: running[0] as (typeof running)[number],
  organizationId: 'or-1',
  userGroupId: 'ug-1',
  callerId: 'us-1',
};

it('the commands to paste have a receiver get a webhook', () => {
  const paths = { projectRoot: '/srv/wallet', outputsFile: '/srv/wallet/.local/outputs.json' };
  const { receive, send } = webhookCommands(sample, paths);
  const stub = 'npm() { shift 6; printf "<%s>" "$@"; echo; }';
  const printed = execFileSync('sh', ['-c', [stub, receive, send].join('\n')], { encoding: 'utf8' });
  const common = '<--environment><one><--outputs></srv/wallet/.local/outputs.json>';
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
    const command = deletionCommand(sample, { projectRoot, outputsFile });
    const stubs = ['npm() { printf "<%s>" "$@"; }', 'curl() { printf "%s\\n" "$@"; }'];
    const printed = execFileSync('sh', ['-c', [...stubs, command].join('\n')], { encoding: 'utf8' });
    const wallet = ['--prefix', projectRoot, 'run', '-s', 'wallet', '--'];
    const common = ['--environment', 'one', '--outputs', outputsFile, '--caller', 'us-1'];
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
