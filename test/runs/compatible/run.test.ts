import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cleanup } from '../../../lib/local/cleanup';
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

/** With a column less that it writes and reads, in the schema and in its functions. */
function withoutColumn(edit: Edit, directory: string): void {
  writeFileSync(
    join(directory, 'lambda/database/migrations/9999-nameless-audit.sql'),
    'alter table audit_records drop column subject_name;\n',
  );
  edit(
    'lambda/database/migrations/index.ts',
    ['\n', "\nimport namelessAudit from './9999-nameless-audit.sql';\n"],
    ['];', "{ name: '9999-nameless-audit', text: namelessAudit }];"],
  );
  edit(
    'lambda/delete-user-group/delete-in-database.ts',
    ['subject_id, subject_name, outcome', 'subject_id, outcome'],
    ['(select name from deleted),', ''],
  );
  edit('lambda/run-operation/operations/list-audit-records.ts', [
    'subject_name, outcome',
    'null as subject_name, outcome',
  ]);
}

it('a migration that drops a column which the base writes: the change passes, and cannot be taken back', async () => {
  const { migrations, checks } = await runCompatibility(cleanup, {
    base: await release(),
    change: await release(withoutColumn),
    // `npm run compatible` has them too.
    tests: [],
    harness: { signal: new AbortController().signal, progress: () => undefined },
  });
  expect(migrations).toEqual([{ name: '9999-nameless-audit' }]);
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
