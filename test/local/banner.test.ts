import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { banner } from '../../local/banner';
import { stateFolder } from '../../local/state';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

const stack = { name: '', purpose: '', template: { Resources: {} }, assets: new Map() };
const [ApiBaseUrl, DashboardUrl] = ['http://127.0.0.1:8001', 'http://127.0.0.1:8101'];
const outputs = { ApiBaseUrl, DashboardUrl, WebhookOriginAddress: '127.0.0.1' };
const running = [
  {
    stack: { ...stack, environment: 'one', region: 'eu-central-1', testFundsOnly: false },
    outputs: { ...outputs, ServiceLevelAgreement: 'yes', Deprecated: 'false' },
  },
  {
    stack: { ...stack, environment: 'another', region: 'ca-central-1', testFundsOnly: true },
    outputs: {
      ...outputs,
      ...{ WebhookOriginReserveAddress: '127.0.0.2', ServiceLevelAgreement: 'no', Deprecated: 'true' },
    },
  },
];
const sample = { organizationId: 'or-1', userGroupId: 'ug-1', callerId: 'us-1' };
const printed = (projectRoot: string, state = `${projectRoot}/.local`) =>
  banner({ running, sample, projectRoot, state: stateFolder(state) });

it('lists the environments, and the purpose of a deprecated one', () => {
  expect(printed('/srv').split('\n').slice(1, 4)).toEqual([
    'NAME     REGION        BASE URL               DASHBOARD              WEBHOOK ORIGIN                SLA',
    'one      eu-central-1  http://127.0.0.1:8001  http://127.0.0.1:8101  127.0.0.1                     yes',
    'another  ca-central-1  http://127.0.0.1:8001  http://127.0.0.1:8101  127.0.0.1, reserve 127.0.0.2  no   deprecated: test funds only',
  ]);
});

it.each([
  ['.local', ''],
  ["o'brien's `id`", ' --outputs'],
])('prints commands that work when pasted, for a state in %s', (name, outputs) => {
  writeFileSync(join(folder(), 'wallet'), '#!/bin/sh\nprintf "<%s>" "$@"; echo', { mode: 0o755 });
  mkdirSync(join(folder(), name));
  const state = join(folder(), name);
  const commands = printed(folder(), state).match(/^\.\/wallet .*/gm) ?? [];
  const output = execFileSync('sh', ['-c', commands.join('\n')], { cwd: folder(), encoding: 'utf8' });
  const place = ` --environment one${outputs && `${outputs} ${state}/outputs.json`}`;
  expect(output.slice(1, -2).replaceAll('><', ' ').split('>\n<')).toEqual([
    `delete-group${place} --group ug-1 --caller us-1`,
    `local receive${place}`,
    `webhook add${place} --organization or-1 --url http://127.0.0.1:8010/`,
    `local send-event${place} --organization or-1 --kind wallet.created --data {"walletId":"wa-1"}`,
  ]);
});
