import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

it('the counts are the last line of a run', () => {
  const rootDir = folder();
  writeFileSync(
    join(rootDir, 'one.test.js'),
    "it('passes', () => undefined); it('fails', () => expect(1).toBe(2));",
  );
  const reporters = ['default', join(__dirname, 'closing-line.js')];
  const args = ['--rootDir', rootDir, '--config', JSON.stringify({ rootDir, reporters })];
  const command = [process.execPath, require.resolve('jest/bin/jest'), ...args].map((word) => `'${word}'`);
  const { stdout } = spawnSync('sh', ['-c', `${command.join(' ')} 2>&1`], { encoding: 'utf8' });
  expect(stdout).toMatch(/\nTests: +1 failed, 1 passed, 2 total\n.*\n1 passed, 1 failed\n$/s);
});
