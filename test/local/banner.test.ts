import { execFileSync } from 'node:child_process';
import { banner } from '../../local/banner';

const environment = (environment: string, region: string, testFundsOnly: boolean, outputs: object) => ({
  stack: {
    name: '',
    environment,
    region,
    purpose: '',
    testFundsOnly,
    template: { Resources: {} },
    assets: new Map(),
  },
  outputs: { WebhookOriginAddress: '127.0.0.1', Deprecated: 'false', ...outputs },
});
const running = [
  environment('one', 'eu-central-1', false, {
    ApiBaseUrl: 'http://127.0.0.1:8001',
    DashboardUrl: 'http://127.0.0.1:8101',
    ServiceLevelAgreement: 'yes',
  }),
  environment('another', 'ca-central-1', true, {
    ApiBaseUrl: 'http://127.0.0.1:8002',
    DashboardUrl: 'http://127.0.0.1:8102',
    WebhookOriginReserveAddress: '127.0.0.2',
    ServiceLevelAgreement: 'no',
    Deprecated: 'true',
  }),
];
const sample = { organizationId: 'or-1', userGroupId: 'ug-1', callerId: 'us-1' };

const printed = (projectRoot: string) => {
  const state = `${projectRoot}/.local`;
  return banner({
    running,
    sample,
    logsDirectory: `${state}/logs`,
    projectRoot,
    outputsFile: `${state}/outputs.json`,
  });
};

it('has a line for each environment, and says what a deprecated one is for', () => {
  expect(printed('/srv').split('\n').slice(1, 4)).toEqual([
    'NAME     REGION        BASE ADDRESS           DASHBOARD              WEBHOOK ORIGIN                SLA',
    'one      eu-central-1  http://127.0.0.1:8001  http://127.0.0.1:8101  127.0.0.1                     yes',
    'another  ca-central-1  http://127.0.0.1:8002  http://127.0.0.1:8102  127.0.0.1, reserve 127.0.0.2  no   deprecated: test funds only',
  ]);
});

it.each(['/srv/wallet', "/srv/o'brien's wallet", '/srv/$HOME `id`'])(
  'its commands work when pasted, with the project in %s',
  (projectRoot) => {
    const commands = printed(projectRoot)
      .split('\n\n')
      .filter((part) => /^(curl|npm)/.test(part));
    const stubs = ['npm() { printf "<%s>" "$@"; echo; }', 'curl() { printf "%s\\n" "$@"; }'];
    const output = execFileSync('sh', ['-c', [...stubs, ...commands].join('\n')], { encoding: 'utf8' });
    const words = (...list: string[]) => list.map((word) => `<${word}>`).join('');
    const wallet = words('--prefix', projectRoot, 'run', '-s', 'wallet', '--');
    const common = words('--environment', 'one', '--outputs', `${projectRoot}/.local/outputs.json`);
    const path = '/auth/user-groups/ug-1';
    const caller = words('--caller', 'us-1');
    const action = words('user-action') + common + caller + words('--method', 'DELETE', '--path', path);
    expect(output.trimEnd().split('\n')).toEqual([
      ...['-i', '-X', 'DELETE', `http://127.0.0.1:8001${path}`],
      ...['-H', `Authorization: Bearer ${wallet}<token>${common}${caller}`],
      ...['-H', `X-SVC-USERACTION: ${wallet}${action}`],
      `${wallet}<receive>${common}`,
      `${wallet}<webhook add>${common}${words('--organization', 'or-1', '--url', 'http://127.0.0.1:8010/')}`.replace(
        '<webhook add>',
        '<webhook><add>',
      ),
      `${wallet}<send-event>${common}${words('--organization', 'or-1', '--kind', 'wallet.created', '--data', '{"walletId":"wa-1"}')}`,
    ]);
  },
);
