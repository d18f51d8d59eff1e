import { execFileSync } from 'node:child_process';
import { sameEnvironment } from '../../lib/operations/options';

it.each(['.local/outputs.json', "/srv/it's/outputs.json", '/srv/$HOME `id`/outputs.json'])(
  'the options to paste lead to %s',
  (outputs) => {
    const command = `printf '<%s>' ${sameEnvironment({ environment: 'anywhere', outputs })}`;
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' })).toBe(
      `<--environment><anywhere><--outputs><${outputs}>`,
    );
  },
);
