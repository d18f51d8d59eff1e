import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type AssemblyCacheOptions, provideAssembly, sources } from '../../../local/assembly/assembly-cache';
import { projectRoot, synthesize } from '../../../local/assembly/synthesis';
import { eventually } from '../../support/eventually';
import { keepStacksIn } from '../../support/kept-state';

/** An app of which each assembly is another one; it makes a temporary folder as the product's does. */
const app = `
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

const assembly = process.env.CDK_OUTDIR ?? '';
mkdtempSync(tmpdir() + '/wallet-bundle-');
mkdirSync(assembly + '/asset', { recursive: true });
writeFileSync(assembly + '/asset/index.js', randomUUID());
writeFileSync(assembly + '/manifest.json', '{}');
`;
/** A file in every folder, and every file, that the stacks are made of. */
const madeOf = sources.map((name) => (name.includes('.') ? name : `${name}/folder/file.ts`));
const { signal } = new AbortController();
let home: string;
const root = () => join(home, 'project');
const directory = () => join(home, 'state', 'cdk.out');
const inProject = (...names: string[]) => join(root(), ...names);
const made = () => readFileSync(join(directory(), 'asset/index.js'), 'utf8');
const leftInState = () => readdir(dirname(directory()));

/** Whether the assembly was reused. */
async function keep(change: Partial<AssemblyCacheOptions> = {}): Promise<boolean> {
  const steps: string[] = [];
  const onStep = (step: string) => void steps.push(step);
  await provideAssembly({ directory: directory(), root: root(), signal, onStep, ...change });
  return steps.length === 1;
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  for (const name of [...madeOf, 'bin/app.ts']) {
    await mkdir(dirname(inProject(name)), { recursive: true });
    await writeFile(inProject(name), '{}');
  }
  await writeFile(inProject('bin/app.ts'), app);
});
afterAll(() => rm(home, { recursive: true, force: true }));
// What one test has changed, another one finds synthesized.
beforeEach(() => keep());

it('unchanged sources: the assembly is reused, unless a new one is wanted', async () => {
  const before = made();
  expect(await keep()).toBe(true);
  expect(made()).toBe(before);
  expect(await keep({ force: true })).toBe(false);
  expect(made()).not.toBe(before);
});

it.each<[string, () => unknown]>([
  ...madeOf.map((name): [string, () => unknown] => [
    `another content of ${name}`,
    () => appendFile(inProject(name), ' '),
  ]),
  ['another name', () => rename(inProject('lambda/folder/file.ts'), inProject('lambda/named'))],
  ['a file less', () => rm(inProject('lambda/named'))],
  ['an altered assembly', () => writeFile(join(directory(), 'asset/index.js'), 'altered')],
  ['an assembly without a file', () => rm(join(directory(), 'manifest.json'))],
  ['an assembly with a file more', () => writeFile(join(directory(), 'more'), '')],
  ['damaged digests', () => writeFile(join(directory(), 'provenance.json'), '{"sources":"')],
  ['no assembly', () => rm(directory(), { recursive: true })],
])('%s: a new synthesis', async (_, change) => {
  await change();
  expect(await keep()).toBe(false);
  expect(made()).toMatch(/^[0-9a-f-]{36}$/);
});

it('what a killed process left of a synthesis is not taken', async () => {
  await rename(directory(), `${directory()}.new`);
  await writeFile(`${directory()}.new/left`, '');
  expect(await keep()).toBe(false);
  expect((await readdir(directory())).sort()).toEqual(['asset', 'manifest.json', 'provenance.json']);
  expect(await leftInState()).toEqual(['cdk.out']);
});

describe('an app that', () => {
  afterEach(() => writeFile(inProject('bin/app.ts'), app));

  it('has sources that change meanwhile is run again, even when they change back', async () => {
    await writeFile(inProject('bin/app.ts'), `${app}; writeFileSync('lib/meanwhile', '');`);
    expect(await keep()).toBe(false);
    await rm(inProject('lib/meanwhile'));
    expect(await keep()).toBe(false);
  });

  it.each([
    ["throw new Error('no');", /^The stacks cannot be synthesized:\n(?!.*\n {4}at ).*Error: no$/s],
    ['const x = ;', /^The stacks cannot be synthesized:\n.*app\.ts:\d+:\d+: ERROR: Unexpected ";"$/],
  ])('fails with %s is told without a trace, and leaves the assembly before', async (code, message) => {
    const before = made();
    await writeFile(inProject('bin/app.ts'), `${app}; ${code}`);
    await expect(keep()).rejects.toThrow(message);
    expect(await leftInState()).toEqual(['cdk.out']);
    expect(made()).toBe(before);
  });

  it('is aborted leaves no half assembly and no temporary files', async () => {
    await writeFile(inProject('bin/app.ts'), `${app}; setInterval(() => undefined, 1_000);`);
    const interruption = new AbortController();
    const outcome = expect(keep({ signal: interruption.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    await eventually(() => existsSync(`${directory()}.new/manifest.json`));
    interruption.abort();
    await outcome;
    expect(await leftInState()).toEqual(['cdk.out']);
  });
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
}, 90_000);

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
