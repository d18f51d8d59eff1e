import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type AssemblyCacheOptions, provideAssembly, sources } from '../../../local/assembly/assembly-cache';
import { projectRoot, synthesize } from '../../../local/assembly/synthesis';
import { eventually } from '../../support/eventually';
import { keepStacksIn } from '../../support/kept-state';

/** An app of which each assembly is another one. */
const app = `
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';

const assembly = process.env.CDK_OUTDIR ?? '';
mkdirSync(assembly + '/asset', { recursive: true });
writeFileSync(assembly + '/asset/index.js', randomUUID());
writeFileSync(assembly + '/manifest.json', '{}');
`;
/** A file in every folder, and every file, that the stacks are made of. */
const madeOf = [
  'bin/app.ts',
  'cdk.json',
  'dashboard/folder/page.html',
  'lambda/folder/handler.ts',
  'lib/folder/openapi.yaml',
  'node_modules/.package-lock.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
const { signal } = new AbortController();
const { version } = process;
const pretendVersion = (value: string) =>
  Object.defineProperty(process, 'version', { value, configurable: true });
let home: string;
const root = () => join(home, 'project');
const directory = () => join(home, 'state', 'cdk.out');
const inProject = (...names: string[]) => join(root(), ...names);
/** Whether the assembly was reused. */
async function keep(change: Partial<AssemblyCacheOptions> = {}): Promise<boolean> {
  const steps: string[] = [];
  const onStep = (step: string) => void steps.push(step);
  await provideAssembly({ directory: directory(), root: root(), signal, onStep, ...change });
  return steps.length === 1;
}
const made = () => readFileSync(join(directory(), 'asset/index.js'), 'utf8');

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  for (const name of madeOf) {
    await mkdir(dirname(inProject(name)), { recursive: true });
    await writeFile(inProject(name), '{}');
  }
  await writeFile(inProject('bin/app.ts'), app);
  await keep();
});
afterAll(() => rm(home, { recursive: true, force: true }));
// What one test has changed, another one finds synthesized.
beforeEach(() => keep());

it('nothing has changed: the assembly stays as it is', async () => {
  const before = made();
  expect(await keep()).toBe(true);
  expect(made()).toBe(before);
});

it.each<[string, () => unknown]>([
  ...madeOf.map((name): [string, () => unknown] => [
    `another content of ${name}`,
    () => appendFile(inProject(name), ' '),
  ]),
  ['a file more', () => writeFile(inProject('lambda/empty'), '')],
  ['another name', () => rename(inProject('lambda/empty'), inProject('lambda/named'))],
  ['a file less', () => rm(inProject('lambda/named'))],
  [
    'content that went from a file to the next one',
    async () => {
      await writeFile(inProject('lib/1'), 'ab');
      await writeFile(inProject('lib/2'), '');
      await keep();
      await writeFile(inProject('lib/1'), 'a');
      await writeFile(inProject('lib/2'), 'b');
    },
  ],
  ['another version of Node.js', () => pretendVersion('v99.0.0')],
])('%s is a new synthesis, once', async (_, change) => {
  const before = made();
  await change();
  expect(await keep()).toBe(false);
  expect(made()).not.toBe(before);
  expect(await keep()).toBe(true);
  pretendVersion(version);
});

it('a link in the sources, whose other end nobody looks at, is a new synthesis each time', async () => {
  symlinkSync(home, inProject('lib/link'));
  expect([await keep(), await keep()]).toEqual([false, false]);
  await rm(inProject('lib/link'));
});

it('a new synthesis on request', async () => {
  const before = made();
  expect(await keep({ force: true })).toBe(false);
  expect(made()).not.toBe(before);
});

it.each<[string, () => unknown]>([
  ['altered', () => writeFile(join(directory(), 'asset/index.js'), 'altered')],
  ['cut short', () => writeFile(join(directory(), 'manifest.json'), '')],
  ['without a file', () => rm(join(directory(), 'manifest.json'))],
  ['with a file more', () => writeFile(join(directory(), 'more'), '')],
  ['without its provenance', () => rm(join(directory(), 'provenance.json'))],
  [
    'of a provenance that is cut short',
    () => writeFile(join(directory(), 'provenance.json'), '{"sources":"'),
  ],
  ['removed', () => rm(directory(), { recursive: true })],
])('an assembly that is %s is made anew', async (_, damage) => {
  await damage();
  expect(await keep()).toBe(false);
  expect(made()).toMatch(/^[0-9a-f-]{36}$/);
  expect(await keep()).toBe(true);
});

describe('an app that', () => {
  afterEach(() => writeFile(inProject('bin/app.ts'), app));

  it('has sources that change meanwhile is run again, even when they change back', async () => {
    await writeFile(inProject('bin/app.ts'), `${app}; writeFileSync('lib/meanwhile', '');`);
    expect(await keep()).toBe(false);
    await rm(inProject('lib/meanwhile'));
    expect(await keep()).toBe(false);
  });

  it('fails leaves the assembly of the sources before', async () => {
    await writeFile(inProject('bin/app.ts'), `${app}; throw new Error('no');`);
    await expect(keep()).rejects.toMatchObject({ name: 'StartError' });
    expect(await readdir(dirname(directory()))).toEqual(['cdk.out']);
    await writeFile(inProject('bin/app.ts'), app);
    expect(await keep()).toBe(true);
  });

  it('is aborted leaves nothing of a half assembly', async () => {
    await writeFile(inProject('bin/app.ts'), `${app}; setInterval(() => undefined, 1_000);`);
    const interruption = new AbortController();
    const keeping = keep({ signal: interruption.signal });
    const outcome = expect(keeping).rejects.toMatchObject({ name: 'AbortError' });
    await eventually(() => existsSync(`${directory()}.new/manifest.json`));
    interruption.abort();
    await outcome;
    expect(await readdir(dirname(directory()))).toEqual(['cdk.out']);
    await writeFile(inProject('bin/app.ts'), app);
    expect(await keep()).toBe(true);
  });
});

it('what a killed process left of a synthesis is not taken', async () => {
  cpSync(directory(), `${directory()}.new`, { recursive: true });
  await rm(directory(), { recursive: true });
  await writeFile(`${directory()}.new/left`, '');
  expect(await keep()).toBe(false);
  expect((await readdir(directory())).sort()).toEqual(['asset', 'manifest.json', 'provenance.json']);
  expect(await readdir(dirname(directory()))).toEqual(['cdk.out']);
});

it("the project's stacks are made of the sources alone", async () => {
  const copy = join(home, 'copy');
  for (const name of sources.filter((each) => !each.startsWith('node_modules'))) {
    cpSync(join(projectRoot, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  const ofCopy = join(home, 'of-copy');
  const state = join(home, 'of-project');
  await Promise.all([synthesize(ofCopy, signal, { root: copy }), keepStacksIn(state)]);
  expect(contentsOf(ofCopy)).toEqual(contentsOf(join(state, 'cdk.out')));
});

/** Names and contents. Bundles tell where node_modules lies, and digests are of bundles; metadata tells of the code's place. */
function contentsOf(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile() && !/^provenance\.json$|\.metadata\.json$/.test(entry.name))
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return `${path.slice(folder.length)}\n${readFileSync(path, 'utf8')}`
        .replaceAll(/(\.\.\/)+[^"]*\/(?=node_modules\/)/g, '')
        .replaceAll(/\b([0-9a-f]{64}|[0-9a-f]{8})\b/g, 'digest');
    })
    .sort();
}
