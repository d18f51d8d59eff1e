import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cleanup } from '../../../local/cleanup';
import { isBroken } from '../harness/checks';
import { copyProject, projectRoot } from '../world/project';
import { deploymentsFor, runCompatibility } from './run';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

type Edit = (file: string, ...replacements: readonly (readonly [string, string])[]) => void;

/** This project as a release with one row in its table: one stack to synthesize and to start, each time. */
async function release(change: (edit: Edit, directory: string) => void = () => undefined): Promise<string> {
  const directory = await copyProject(cleanup);
  symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
  const edit: Edit = (file, ...replacements) => {
    const path = join(directory, file);
    let text = readFileSync(path, 'utf8');
    for (const [from, to] of replacements) {
      expect(text).toContain(from);
      text = text.replace(from, to);
    }
    writeFileSync(path, text);
  };
  edit('lib/environments.ts', ['\n]);', '\n].slice(-1));']);
  change(edit, directory);
  return directory;
}

/** With another name for the function that deletes a group, in the schema and in its handler. */
function withRenamedFunction(edit: Edit, directory: string): void {
  writeFileSync(
    join(directory, 'lambda/database/migrations/9999-renamed-deletion.sql'),
    'alter function delete_user_group rename to remove_user_group;\n',
  );
  edit(
    'lambda/database/migrations/index.ts',
    ['\n', "\nimport renamedDeletion from './9999-renamed-deletion.sql';\n"],
    ['];', ", { name: '9999-renamed-deletion', text: renamedDeletion }];"],
  );
  edit('lambda/delete-user-group/delete-in-database.ts', [
    'select delete_user_group(',
    'select remove_user_group(',
  ]);
}

it('a migration that renames a function which the base calls: the change passes, and cannot be taken back', async () => {
  const { migrations, checks } = await runCompatibility(cleanup, {
    base: await release(),
    change: await release(withRenamedFunction),
    // `npm run compatible` has them too.
    tests: [],
    harness: { signal: new AbortController().signal, progress: () => undefined },
  });
  expect(migrations).toEqual([{ name: '9999-renamed-deletion' }]);
  expect(checks.filter(isBroken)).toEqual([
    {
      name: "base on the change's schema: smoke",
      violations: expect.arrayContaining([
        expect.stringMatching(/^failed +\d+\.\d\d s +delete its user group by the API/),
      ]),
    },
  ]);
  expect(checks.map(({ name }) => name)).toContain('change after its migrations: smoke');
  expect(checks.map(({ name }) => name)).toContain(
    "base on the change's schema: delivers what was queued before it",
  );
}, 240_000);

it('one whose header says that it cannot be taken back is not, and all others are', () => {
  const releases = (...migrations: Parameters<typeof deploymentsFor>[0]) =>
    deploymentsFor(migrations).map(({ release }) => release);
  expect(releases()).toEqual(['base', 'change', 'base']);
  expect(releases({ name: '0008-a' })).toEqual(['base', 'change', 'base']);
  expect(releases({ name: '0008-a' }, { name: '0009-b', cannotBeTakenBack: 'secrets' })).toEqual([
    'base',
    'change',
  ]);
});
