import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { runLocalCommand } from '../../lib/local/command';
import { createTerminal } from '../../lib/operations/terminal';
import { temporaryFolder } from '../support/temporary-folder';

const projectRoot = resolve(__dirname, '../..');
const folder = temporaryFolder();

it.each(['', '.', '..', 'lib/..', projectRoot, '/'])(
  'a state in "%s", which holds the project, is used wrongly',
  async (folder) => {
    let stderr = '';
    const output = {
      write: (text: string) => {
        stderr += text;
      },
    };
    const context = { terminal: createTerminal(output, output), projectRoot, onSignal: () => undefined };
    expect(await runLocalCommand(['--state', folder], context)).toBe(2);
    expect(stderr).toContain(
      `argument '${folder}' is invalid. Give a folder of its own, such as .local: ${resolve(projectRoot, folder)} holds the project.`,
    );
  },
);

it('says that it starts before it loads what takes long', async () => {
  const preload = join(folder(), 'preload.cjs');
  await writeFile(
    preload,
    `process.stderr.write = (line) => {
      const loaded = Object.keys(require.cache);
      require('node:fs').writeSync(1, JSON.stringify({ line, loaded }));
      process.exit();
    };`,
  );
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--require', preload, '--import', 'tsx', 'bin/local.ts', '--state', join(folder(), 'state')],
    { cwd: projectRoot },
  );
  const { line, loaded } = JSON.parse(stdout) as { line: string; loaded: readonly string[] };
  expect(line).toBe('Starting…\n');
  const ours = loaded.map((file) => relative(projectRoot, file)).filter((file) => /^(bin|lib)\//.test(file));
  expect(ours.sort()).toEqual([
    'bin/local.ts',
    'bin/uncaught.ts',
    'lib/environment/invalid-input.ts',
    'lib/operations/interruption.ts',
    'lib/operations/terminal.ts',
  ]);
  expect(loaded.filter((file) => /node_modules\/(?!tsx\/|esbuild\/|get-tsconfig\/)/.test(file))).toEqual([]);
});
