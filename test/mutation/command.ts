import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { type Harness, longRun, projectRoot, temporaryFolder } from '../runs/long-run';

/** Milliseconds after which the tests of a change that makes them hang are ended. It counts as noticed. */
const longest = 10 * 60_000;

interface Change {
  readonly tests: readonly string[];
  readonly before: string;
  readonly after: string;
  /** Relative to the checkout. */
  readonly file: string;
}

const command = new Command('npm run mutate:table --')
  .description(
    'Makes each change of test/mutation/changes.txt in a copy of the checkout, and runs the related tests: do they notice?',
  )
  .option('--only <text>', 'only changes whose folder or text contains this');

void longRun<{ only?: string }>(command, async ({ only = '' }, harness) => {
  const { changes, lost } = readChanges();
  const chosen = changes.filter(({ file, before, after }) =>
    [file, before, after].some((text) => text.includes(only)),
  );
  if (chosen.length === 0) throw new Error(`No change contains "${only}".`);
  const copy = await copyOf(harness);
  const unnoticed: string[] = [];
  const healthy = new Set<string>();
  for (const [index, { tests, file, before, after }] of chosen.entries()) {
    const run = () => passes(tests, copy, harness);
    // Tests that fail anyway would notice everything.
    if (!healthy.has(String(tests)) && !(await run()))
      throw new Error(`These fail without any change: ${tests.join(' ')}`);
    healthy.add(String(tests));
    const path = join(copy, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replace(before, () => after),
    );
    const isUnnoticed = await run();
    writeFileSync(path, text);
    const change = `${file}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`;
    if (isUnnoticed) unnoticed.push(change);
    harness.progress(`${index + 1}/${chosen.length} ${isUnnoticed ? 'UNNOTICED' : 'noticed'} ${change}`);
  }
  const report = [
    `${chosen.length - unnoticed.length} of ${chosen.length} changes noticed`,
    ...unnoticed.map((change) => `Unnoticed: ${change}`),
    ...lost.map((text) => `Not found once: ${text}`),
  ];
  return { report: report.join('\n'), failed: lost.length > 0 || unnoticed.length > 0 };
});

/** The changes of the table; `lost` are those whose text does not occur once in their folder. */
function readChanges() {
  const changes: Change[] = [];
  const lost: string[] = [];
  let [folder, tests] = ['', [] as readonly string[]];
  for (const line of readFileSync(join(__dirname, 'changes.txt'), 'utf8').split('\n')) {
    const [, ofGroup, testsOfGroup] = /^## (\S+): (.+)$/.exec(line) ?? [];
    if (ofGroup && testsOfGroup) [folder, tests] = [ofGroup, testsOfGroup.split(' ')];
    const [before, after] = line.replaceAll('\\n', '\n').split(/ ⇒ ?/);
    if (!before || after === undefined || line.startsWith('#')) continue;
    const places = filesIn(join(projectRoot, folder)).flatMap((path) =>
      Array<string>(readFileSync(path, 'utf8').split(before).length - 1).fill(relative(projectRoot, path)),
    );
    const [file] = places;
    if (file && places.length === 1) changes.push({ tests, before, after, file });
    else lost.push(`${folder}: ${JSON.stringify(before)}`);
  }
  return { changes, lost };
}

function filesIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => filesIn(join(path, name)))
    : [path];
}

/** The files that git tracks or would, so that nobody's own are touched, whatever ends this process. */
async function copyOf({ cleanup }: Harness): Promise<string> {
  const copy = await temporaryFolder(cleanup);
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = execFileSync('git', list, { cwd: projectRoot, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const name of names)
    if (existsSync(join(projectRoot, name)))
      cpSync(join(projectRoot, name), join(copy, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

async function passes(tests: readonly string[], copy: string, { signal }: Harness): Promise<boolean> {
  const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'parts', '--bail', '--runInBand'];
  // Jest begins with the tests that failed last. A busy machine must not notice.
  const options = [`--cacheDirectory=${join(copy, 'coverage/jest')}`, '--testTimeout=240000'];
  const child = spawn(process.execPath, [...jest, ...options, ...tests], {
    cwd: copy,
    stdio: 'ignore',
    signal,
    timeout: longest,
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}
