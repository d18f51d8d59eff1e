import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { banner } from '../../local/banner';
import { stateFolder } from '../../local/state';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

it('prints commands that work when pasted, whatever the state folder is named', () => {
  writeFileSync(join(folder(), 'wallet'), '#!/bin/sh\nprintf "<%s>" "$@"; echo', { mode: 0o755 });
  const state = join(folder(), "o'brien's `id`");
  mkdirSync(state);
  const stack = { environment: 'one', region: 'eu-central-1' } as Parameters<
    typeof banner
  >[0]['running'][0]['stack'];
  const sample = { organizationId: 'or-1', userGroupId: 'ug-1', callerId: 'us-1' };
  const running = [{ stack, outputs: { ApiBaseUrl: 'http://127.0.0.1:8001', DashboardUrl: 'x' } }];
  const printed = banner({ running, sample, projectRoot: folder(), state: stateFolder(state) });
  const commands = printed.match(/^\.\/wallet .*/gm) ?? [];
  const output = execFileSync('sh', ['-c', commands.join('\n')], { cwd: folder(), encoding: 'utf8' });
  const target = ` --environment one --outputs ${state}/outputs.json`;
  expect(output.slice(1, -2).replaceAll('><', ' ').split('>\n<')).toEqual([
    `delete-group${target} --group ug-1 --caller us-1`,
    `local receive${target}`,
    `webhook add${target} --organization or-1 --url http://127.0.0.1:8010/`,
    `local send-event${target} --organization or-1 --kind wallet.created --data {"walletId":"wa-1"}`,
  ]);
});
