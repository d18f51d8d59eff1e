import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { banner } from '../../local/banner';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

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

it.each(['wallet', "o'brien's wallet", '$HOME `id`'])('its commands work when pasted, in %s', (name) => {
  const projectRoot = join(folder(), name);
  mkdirSync(projectRoot);
  writeFileSync(join(projectRoot, 'wallet'), '#!/bin/sh\nprintf "<%s>" "$@"; echo', { mode: 0o755 });
  const commands = printed(projectRoot)
    .split('\n\n')
    .filter((part) => part.startsWith('curl') || part.includes(' --environment '));
  const script = ['curl() { printf "%s\\n" "$@"; }', ...commands].join('\n');
  const output = execFileSync('sh', ['-c', script], { cwd: '/', encoding: 'utf8' });
  const words = (...list: string[]) => list.map((word) => `<${word}>`).join('');
  const environment = words('--environment', 'one');
  const path = '/auth/user-groups/ug-1';
  const caller = words('--caller', 'us-1');
  const action = `<user-action>${environment}${caller}${words('--method', 'DELETE', '--path', path)}`;
  const organization = words('--organization', 'or-1');
  const event = words('--kind', 'wallet.created', '--data', '{"walletId":"wa-1"}');
  expect(output.trimEnd().split('\n')).toEqual([
    ...['-i', '-X', 'DELETE', `http://127.0.0.1:8001${path}`],
    ...['-H', `Authorization: Bearer <local><token>${environment}${caller}`],
    ...['-H', `X-SVC-USERACTION: <local>${action}`],
    `<local><receive>${environment}`,
    `<webhook><add>${environment}${organization}${words('--url', 'http://127.0.0.1:8010/')}`,
    `<local><send-event>${environment}${organization}${event}`,
  ]);
});
