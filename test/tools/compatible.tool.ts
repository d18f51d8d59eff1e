import { chmodSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Cleanup } from '../../local/shared/cleanup';
import { runCompatibility } from '../runs/compatible/run';
import { projectRoot, temporaryFolder } from '../runs/long-run';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const leftOut = new Set(['node_modules', '.git', '.local', 'cdk.out']);

/** A copy of this project with one row in its table. */
async function copyProject(): Promise<string> {
  const directory = await temporaryFolder(cleanup);
  // PostgreSQL's account may run from it.
  chmodSync(directory, 0o755);
  cpSync(projectRoot, directory, { recursive: true, filter: (path) => !leftOut.has(basename(path)) });
  symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
  edit(directory, 'lib/environments.ts', '\n]);', '\n].slice(-1));');
  return directory;
}

function edit(directory: string, file: string, from: string, to: string): void {
  const path = join(directory, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

it('npm run compatible finds a migration that renames a function which the base calls', async () => {
  const change = await copyProject();
  const migrations = join(change, 'lambda/database/migrations');
  writeFileSync(
    join(migrations, '9999-renamed.sql'),
    'alter function delete_user_group rename to remove_user_group;\n',
  );
  edit(change, 'lambda/database/migrations/index.ts', '\n', "\nimport renamed from './9999-renamed.sql';\n");
  edit(change, 'lambda/database/migrations/index.ts', '];', "  { name: '9999-renamed', text: renamed },\n];");
  const handler = 'lambda/delete-user-group/delete-in-database.ts';
  edit(change, handler, 'select delete_user_group(', 'select remove_user_group(');

  const compared = runCompatibility({
    ...{ base: await copyProject(), change, cleanup },
    ...{ signal: new AbortController().signal, progress: () => undefined },
  });
  await expect(compared).rejects.toThrow(
    /^base on the change's schema: smoke in .*failed +\d+\.\d\d s +delete its group through the API/s,
  );
}, 240_000);
