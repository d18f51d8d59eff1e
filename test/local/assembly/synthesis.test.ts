import { existsSync, readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { synthesize } from '../../../local/assembly/synthesis';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();

/** An app that makes a temporary folder as the product's does, tells its name, and goes on until it is ended. */
const app = `
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const told = process.env.CDK_OUTDIR + '.told';
writeFileSync(told + '.draft', mkdtempSync(join(tmpdir(), 'wallet-bundle-')));
renameSync(told + '.draft', told);
setInterval(() => undefined, 1_000);
`;

test('an app that is aborted leaves no temporary file', async () => {
  const script = join(folder(), 'app.ts');
  await writeFile(script, app);
  const assembly = join(folder(), 'assembly');
  const told = `${assembly}.told`;
  const interruption = new AbortController();
  const synthesis = synthesize(assembly, interruption.signal, { script });
  synthesis.catch(() => undefined);
  while (!existsSync(told)) await sleep(20);
  const temporary = readFileSync(told, 'utf8');
  expect(existsSync(temporary)).toBe(true);
  interruption.abort();
  await expect(synthesis).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  expect(existsSync(temporary)).toBe(false);
  expect((await readdir(folder())).sort()).toEqual(['app.ts', 'assembly.told']);
});

test('an app is not started when it is aborted before', async () => {
  await expect(synthesize(join(folder(), 'assembly'), AbortSignal.abort())).rejects.toThrow(
    expect.objectContaining({ name: 'AbortError' }),
  );
  expect(await readdir(folder())).toEqual([]);
});
