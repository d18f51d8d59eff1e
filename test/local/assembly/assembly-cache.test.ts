import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { provideAssembly, sources } from '../../../local/assembly/assembly-cache';
import { eventually } from '../../support/eventually';
import { temporaryFolder } from '../../support/temporary-folder';

/** An app that leaves a temporary folder, as an interrupted synthesis does. */
const app = `
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

const assembly = process.env.CDK_OUTDIR ?? '';
mkdtempSync(tmpdir() + '/wallet-bundle-');
mkdirSync(assembly);
writeFileSync(assembly + '/manifest.json', 'code');
`;
/** Every source file, and a file in every source folder. */
const files = sources.map((name) => (name.includes('.') ? name : `${name}/folder/file.ts`));

let synthesized: string;
beforeAll(async () => {
  synthesized = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  for (const name of files) {
    const file = join(synthesized, 'project', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '{}');
  }
  writeFileSync(join(synthesized, 'project/bin/app.ts'), app);
  await provide(synthesized);
});
afterAll(() => rm(synthesized, { recursive: true, force: true }));

const temporary = temporaryFolder();
const home = (...names: string[]) => join(temporary(), ...names);
beforeEach(() => cpSync(synthesized, home(), { recursive: true }));

const provide = (folder: string, signal = new AbortController().signal) =>
  provideAssembly({ directory: join(folder, 'state/cdk.out'), root: join(folder, 'project'), signal });

/** An aborted synthesis starts no process. */
const isReused = () =>
  provide(home(), AbortSignal.abort()).then(
    () => true,
    () => false,
  );

it('reuses the assembly until a source changes', async () => {
  for (const file of files) {
    expect(await isReused()).toBe(true);
    const before = readFileSync(home('project', file));
    await appendFile(home('project', file), ' ');
    expect(await isReused()).toBe(false);
    await writeFile(home('project', file), before);
  }
});

it.each<[string, () => unknown]>([
  ['a renamed file', () => rename(home('project/lambda/folder/file.ts'), home('project/lambda/other.ts'))],
  ['a removed file', () => rm(home('project/lambda/folder/file.ts'))],
  ['no assembly', () => rm(home('state/cdk.out'), { recursive: true })],
])('synthesizes after %s', async (_, change) => {
  await change();
  expect(await isReused()).toBe(false);
});

it('synthesizes into an empty folder, even after a killed synthesis', async () => {
  await rename(home('state/cdk.out'), home('state/cdk.out.new'));
  await writeFile(home('state/cdk.out.new/left'), '');
  await provide(home());
  expect((await readdir(home('state/cdk.out'))).sort()).toEqual(['manifest.json', 'sources.sha256']);
  expect(await readdir(home('state'))).toEqual(['cdk.out']);
});

it('does not reuse an assembly whose sources changed during the synthesis', async () => {
  await writeFile(home('project/bin/app.ts'), `${app}; writeFileSync('lib/meanwhile', '');`);
  await provide(home());
  expect(await isReused()).toBe(false);
  rmSync(home('project/lib/meanwhile'));
  expect(await isReused()).toBe(false);
});

it.each([
  ["throw new Error('no');", /^Synthesis failed:\n(?!.*\n {4}at ).*Error: no$/s],
  ['const x = ;', /^Synthesis failed:\n.*app\.ts:\d+:\d+: ERROR: Unexpected ";"$/],
])(
  'reports an app that fails with %s without a stack trace, and keeps the previous assembly',
  async (code, message) => {
    await writeFile(home('project/bin/app.ts'), `${app}; ${code}`);
    await expect(provide(home())).rejects.toThrow(message);
    expect(await readdir(home('state'))).toEqual(['cdk.out']);
    expect(readFileSync(home('state/cdk.out/manifest.json'), 'utf8')).toBe('code');
  },
);

it('an aborted synthesis leaves no partial assembly or temporary files', async () => {
  await writeFile(home('project/bin/app.ts'), `${app}; setInterval(() => undefined, 1_000);`);
  const interruption = new AbortController();
  const outcome = expect(provide(home(), interruption.signal)).rejects.toMatchObject({ name: 'AbortError' });
  await eventually(() => existsSync(home('state/cdk.out.new/manifest.json')));
  interruption.abort();
  await outcome;
  expect(await readdir(home('state'))).toEqual(['cdk.out']);
});
