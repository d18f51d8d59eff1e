import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { sourcesIn } from './sources';

/** Runs a script that reports errors as the entry points do. */
const run = (script: string) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--require', 'tsx/cjs', '--eval', `require('./bin/uncaught'); ${script}`],
    { cwd: resolve(__dirname, '../..'), encoding: 'utf8' },
  );
  return { status, stderr };
};

it('every entry point checks the version of Node.js first, then reports uncaught errors', () => {
  const entryPoints = sourcesIn('bin').filter(
    ({ path }) => path.endsWith('.ts') && !['bin/node-version.ts', 'bin/uncaught.ts'].includes(path),
  );
  expect(entryPoints.length).toBeGreaterThanOrEqual(3);
  expect(
    entryPoints.filter(({ text }) => !text.startsWith("import './node-version';\nimport './uncaught';\n")),
  ).toEqual([]);
});

it('prints only the message for an invalid row', () => {
  const script = "require('./lib/environment').validateEnvironments([])";
  expect(run(script)).toEqual({
    status: 1,
    stderr: 'error: environments is []. Give a list with at least one environment.\n',
  });
});

it('prints the stack trace of a bug', () => {
  const { status, stderr } = run("Promise.reject(new Error('a bug'))");
  expect(status).toBe(1);
  expect(stderr).toMatch(/^Error: a bug\n {4}at /);
});
