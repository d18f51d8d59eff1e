import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { number as numberIn } from '../../../cli/shell/options';
import { longRun, temporaryFolder } from '../long-run';

/** Without the table of environments, which is its operator's. */
const product = /^(bin|domain|lib\/(?!environments\.ts)|lambda|local|cli|dashboard|\.ci|\.github)/;

const command = new Command('npm run mutate --')
  .description('Draws small changes of the product, and runs type check and tests on each: do they notice?')
  .option('--sample <number>', 'how many', numberIn(1, 10_000), 10)
  .option('--seed <number>', 'repeat a draw', numberIn(0, 2 ** 32 - 1), randomInt(2 ** 32))
  .option('--only <path>', 'only in files whose paths begin like this', '');

type After = (...match: string[]) => string;
const dropped: After = () => '';
const swapped: After = (_, one, between, other) => `${other}${between}${one}`;
const doubled: After = (text = '') => String(2 * Number(text.replaceAll('_', '')));
const halved: After = (text = '') => String(Math.floor(Number(text.replaceAll('_', '')) / 2));
const simplified: After = (_, one = '') => one;
const turned: After = (text = '') => (text === '=' ? '<>' : text.length > 1 ? text.charAt(0) : `${text}=`);
const number = /(?<![\w.#$-])[1-9][\d_]*(?![\w.-])/g;
const shell = /^\.ci\/[^.]+$/;
const sql = /\.sql$|^lambda\/.*\.ts$/;
/** A part of an expression of SQL, with what is in its parentheses. */
const part = String.raw`(?:[^()\n\`;]|\((?:[^()]|\([^()]*\))*\))+?`;

/** By files. For TypeScript itself there are the mutators of Stryker. */
const rules: readonly (readonly [files: RegExp, before: RegExp, after: After])[] = [
  [/./, number, doubled],
  [/./, number, halved],
  [/\.ts$/, /^ +(?:(?:'[^'\n]+'|\w+): .+|'[^'\n]+'|\.\.\..+),\n/gm, dropped],
  [/\.ts$/, /(?<=[([])([^\s,()[\]{}]+)(, )([^\s,()[\]{}]+)(?=[)\]])/g, swapped],
  [/\.ya?ml$/, /^( *)[^\s#].*\n(?:(?:\1 .*)?\n)*/gm, dropped],
  [/\.html$/, / [\w-]+="[^"\n]*"|^ +<(\w+)\b.*(?:<\/\1>|\/>)\n/gm, dropped],
  [/\.css$/, /(?<![\w-])[\w-]+: [^;{}\n]+;/g, dropped],
  [/\.(ts|html|yml)$/, /^( *(?:'.+',|- .*|<.*>)\n)()( *(?:'.+',|- .*|<.*>)\n)/gm, swapped],
  [shell, /^ *(?!(?:fi|done|esac|else|\}|\)|;;)|.*(?:then|do|in|[{(\\])$)[^\s#].*\n/gm, dropped],
  [shell, / --?[a-z][\w-]*(?:=\S+)?(?=[ \n])| (?:\|\||&&) [^;)\n]+(?=\n)/g, dropped],
  [sql, RegExp(`(?:(?<=\\S) |\\n *)(?:and|or) ${part}(?=$| and | or |[)\`;])`, 'gm'), dropped],
  [sql, RegExp(`(?<=\\b(?:where|on|when) )${part}\\s+(?:and|or) `, 'g'), dropped],
  [sql, /(?<=order by [^\n)`]*), [^,\n)`;]+|(?<=order by )[^,\n)`;]+, /g, dropped],
  [sql, / (?:desc|distinct|not|unique|for update|skip locked|default [^,\n]+)\b/g, dropped],
  [sql, RegExp(`coalesce\\((${part}), ${part}\\)`, 'g'), simplified],
  [sql, /^(?:grant|revoke) [^;]+;\n|(?<=^grant [^;]*), \w+/gm, dropped],
  [sql, /(?<= )(?:[<>]=?|=)(?= )/g, turned],
];

/** What `.ci/run` runs on some files besides. */
const besides = { dashboard: 'test:browser', '.github': 'lint:workflows', '.ci/': 'lint:scripts' };

/** What can become of a line: `before`, which begins at the character `start` of the file, becomes `after`. */
async function changesOf(line: number, name: string, content: string) {
  const lines = content.split(/(?<=\n)/);
  if (/^\s*(?:\/\/|\/?\*|#|--|<!--)/.test(lines[line - 1] ?? '')) return [];
  const at = (index: number, column = 0) => lines.slice(0, index).join('').length + column;
  const { Instrumenter } = await import('@stryker-mutator/instrumenter');
  const log = { isDebugEnabled: () => false, debug: () => undefined, info: () => undefined };
  const code = [{ name, content, mutate: true }].filter(() => /\.c?[jt]s$/.test(name));
  const options = { excludedMutations: [], ignorers: [], plugins: null };
  const { mutants } = await new Instrumenter(log as never).instrument(code, options);
  const changes: { kind: string; start: number; before: string; after: string }[] = [];
  for (const { mutatorName: kind, location, replacement: after } of mutants) {
    const [start = 0, end = 0] = [location.start, location.end].map(({ line, column }) => at(line, column));
    // Most strings, objects and lists are texts, types and options.
    const isDrawn = location.start.line === line - 1 && !/String|Object|Array/.test(kind);
    if (isDrawn) changes.push({ kind, start, before: content.slice(start, end), after });
  }
  for (const [files, pattern, after] of rules.filter(([each]) => each.test(name))) {
    // In TypeScript only within statements of SQL: all else is blanked.
    const isCode = files === sql && !name.endsWith('.sql');
    const text = isCode ? content.replace(/(sql`[^`]*)|[^\n]/g, (_, kept) => kept ?? ' ') : content;
    pattern.lastIndex = at(line - 1);
    for (let match = pattern.exec(text); match && match.index < at(line); match = pattern.exec(text)) {
      changes.push({ kind: after.name, start: match.index, before: match[0], after: after(...match) });
      pattern.lastIndex = match.index + 1;
    }
  }
  return changes.filter(({ before, after }) => before !== after);
}

void longRun<{ sample: number; seed: number; only: string }>(command, async (options, harness) => {
  const copy = await temporaryFolder(harness.cleanup);
  const ls = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', ls, { encoding: 'utf8' }).split('\n').filter(existsSync);
  for (const file of [...files, 'node_modules'])
    cpSync(file, join(copy, file), { recursive: true, verbatimSymlinks: true });
  const read = (file: string) => readFileSync(join(copy, file), 'utf8');

  async function npm(...args: readonly string[]) {
    const limits = { signal: harness.signal, timeout: 20 * 60_000, killSignal: 'SIGKILL' } as const;
    const child = spawn('npm', args, { cwd: copy, detached: true, ...limits });
    // With the processes of npm, when it was killed.
    child.once('exit', (code) => code === null && process.kill(-(child.pid as number), 'SIGKILL'));
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const [[code], [said, errors]] = await Promise.all([once(child, 'exit'), output]);
    const [, test = args[1]] = (args[0] === 'exec' && /^FAIL .*?(test\/\S+)/m.exec(errors)) || [];
    return { said, notice: code === null ? 'timeout' : code !== 0 && test };
  }
  const list = async (...args: readonly string[]) =>
    (await npm('exec', 'jest', '--', '--listTests', ...args)).said.split('\n').filter(existsSync);
  const run = async (...tests: readonly string[]) =>
    tests.length > 0 && (await npm('exec', 'jest', '--', '--bail', '--runTestsByPath', ...tests)).notice;
  const check = async (script: string) => (await npm('run', script)).notice;
  /** What notices a change of a file. What no module imports is read by those that name it. */
  async function examine(file: string) {
    const readers = files.filter((each) => /\.ts$/.test(each) && read(each).includes(`${basename(file)}'`));
    const related = await list('--roots', copy, '--findRelatedTests', file, ...readers);
    const others = (await list()).filter((each) => !related.includes(each));
    const [, script] = Object.entries(besides).find(([path]) => file.startsWith(path)) ?? [];
    const tested = (await check('typecheck')) || (await run(...related)) || (await run(...others));
    return tested || (script && (await check(script))) || 'SURVIVED';
  }

  if (await check('typecheck')) throw new Error('The type check fails without any change.');
  // Each line is as likely as any other, however many changes it has.
  const lines = files
    .filter((file) => product.test(file) && file.startsWith(options.only))
    .flatMap((file) => Array.from(read(file).split('\n'), (_, index) => [file, index + 1] as const));
  if (lines.length === 0) throw new Error(`No path of the product begins with ${options.only}.`);
  const outcomes: string[] = [];
  for (let turn = 0; outcomes.length < options.sample && turn < 100 * options.sample; turn += 1) {
    const random = createHash('sha256').update(`${options.seed} ${turn}`).digest();
    const [file, line] = lines[random.readUInt32LE(0) % lines.length] ?? ['', 0];
    const content = read(file);
    const changes = await changesOf(line, file, content);
    const change = changes[random.readUInt32LE(4) % changes.length];
    if (!change) continue;
    const { kind, start, before, after } = change;
    writeFileSync(join(copy, file), content.slice(0, start) + after + content.slice(start + before.length));
    let notice = await examine(file);
    writeFileSync(join(copy, file), content);
    const isTest = notice.startsWith('test/');
    if (await (isTest ? run(join(copy, notice)) : notice.includes(':') && check(notice)))
      notice = `SURVIVED: ${notice} fails without it, too`;
    const what = `${file}:${line} ${kind} ${JSON.stringify(before)} -> ${JSON.stringify(after)}`;
    harness.progress(`${outcomes.push(`${file} ${notice}`)}/${options.sample} ${what}: ${notice}`);
  }
  const report = ['', ...new Set(outcomes.map((outcome) => outcome.replace(/\/.*/, '')))].map((room) => {
    const ofRoom = outcomes.filter((outcome) => outcome.startsWith(room));
    const noticed = ofRoom.filter((outcome) => !outcome.includes(' SURVIVED')).length;
    return `${room || 'all'}: ${noticed} of ${ofRoom.length} noticed`;
  });
  return { report: [...report, `--seed ${options.seed}`].join('\n'), failed: false };
});
