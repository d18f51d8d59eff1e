import fs, { appendFileSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { provideAssembly, sources } from '../../../local/assembly/cache';
import { eventually } from '../../support/eventually';
import { temporaryFolder } from '../../support/temporary-folder';

/** An app that leaves a file in its home. */
const app = `
import { mkdirSync, writeFileSync } from 'node:fs';

const assembly = process.env.CDK_OUTDIR ?? '';
writeFileSync(process.env.HOME + '/.left', '');
mkdirSync(assembly);
writeFileSync(assembly + '/manifest.json', 'code');
`;
/** Every source file, and a file in every source folder. */
const files = sources.map((name) => (name.includes('.') ? name : `${name}/folder/file.ts`));

const provide = (folder: string, signal = new AbortController().signal) =>
  provideAssembly({ directory: join(folder, 'state/cdk.out'), root: join(folder, 'project'), signal });

const synthesized = fs.mkdtempSync(join(tmpdir(), 'wallet-test-'));
beforeAll(async () => {
  for (const file of files) {
    mkdirSync(join(synthesized, 'project', dirname(file)), { recursive: true });
    writeFileSync(join(synthesized, 'project', file), '{}');
  }
  writeFileSync(join(synthesized, 'project/bin/app.ts'), app);
  await provide(synthesized);
});

const temporary = temporaryFolder();
const home = (name = '') => join(temporary(), name);
beforeEach(() => cpSync(synthesized, home(), { recursive: true }));
const append = (code: string) => appendFileSync(home('project/bin/app.ts'), code);

/** An aborted synthesis starts no process. */
async function isReused(): Promise<boolean> {
  const [{ status }] = await Promise.allSettled([provide(home(), AbortSignal.abort())]);
  return status === 'fulfilled';
}

it.each(files.map((file) => [file]))('reuses the assembly until %s changes', async (file) => {
  expect(await isReused()).toBe(true);
  appendFileSync(home(`project/${file}`), ' ');
  expect(await isReused()).toBe(false);
});

it('synthesizes after a file was renamed, into an empty folder, even after a killed synthesis', async () => {
  fs.renameSync(home('project/lambda/folder/file.ts'), home('project/lambda/other.ts'));
  expect(await isReused()).toBe(false);
  mkdirSync(home('state/cdk.out.new-1'));
  writeFileSync(home('state/cdk.out.new-1/left'), '');
  await provide(home());
  expect(readdirSync(home('state/cdk.out')).sort()).toEqual(['manifest.json', 'sources.sha256']);
  expect(readdirSync(home('state'))).toEqual(['cdk.out']);
});

it('does not reuse an assembly whose sources changed during the synthesis', async () => {
  append("writeFileSync('lib/meanwhile', '');");
  await provide(home());
  fs.rmSync(home('project/lib/meanwhile'));
  expect(await isReused()).toBe(false);
});

it.each([
  ["throw new Error('no');", /^Synthesis failed:\n(?!.*\n {4}at ).*Error: no$/s],
  ['process.kill(process.pid, "SIGKILL");', /^Synthesis failed:\nIt was killed by SIGKILL.* memory/],
])('reports how an app fails: %s, and keeps the assembly', async (code, message) => {
  append(code);
  await expect(provide(home())).rejects.toThrow(message);
  expect(readdirSync(home('state'))).toEqual(['cdk.out']);
  expect(fs.readFileSync(home('state/cdk.out/manifest.json'), 'utf8')).toBe('code');
});

it('an aborted synthesis leaves no partial assembly or temporary files', async () => {
  append('setInterval(() => undefined, 1_000);');
  const interruption = new AbortController();
  const outcome = expect(provide(home(), interruption.signal)).rejects.toMatchObject({ name: 'AbortError' });
  await eventually(() => fs.existsSync(home(`state/cdk.out.new-${process.pid}/manifest.json`)));
  interruption.abort();
  await outcome;
  expect(readdirSync(home('state'))).toEqual(['cdk.out']);
});
