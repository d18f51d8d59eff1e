import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { githubEnvironments, type RoleKind, roleName } from '../../domain/workflow-roles';
import { projectRoot } from '../architecture/sources';
import { flagsOf } from '../support/wallet-commands';
import { commands, commandsOf, workflows } from './workspace';

// biome-ignore lint/suspicious/noExplicitAny: a workflow has no types
type Yaml = any;

const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
const exists = (part: string) =>
  part.startsWith('.ci/') ? existsSync(join(projectRoot, part)) : (part.split(' ').at(-1) ?? '') in scripts;

/** Faults that the linter does not find. */
function faultsOf(text: string): string[] {
  const { permissions, jobs } = parse(text);
  // Not a job that calls a workflow of this project.
  const own = Object.entries<Yaml>(jobs).filter(([, { uses }]) => !uses?.startsWith('./'));
  return [
    ...(permissions ? [] : ['no permissions: the token could do more']),
    ...own.flatMap(([name, { steps }]) =>
      steps.flatMap(({ uses = '', with: { overwrite, name: artifact } = {} as Yaml }: Yaml) => [
        ...(/^$|^[\w/-]+@[0-9a-f]{40}$/.test(uses) ? [] : [`${name}: ${uses} is not pinned to a commit`]),
        ...(uses.startsWith('actions/upload-artifact@') && !overwrite
          ? [`${name}: a second attempt of the run could not upload ${artifact} again`]
          : []),
      ]),
    ),
    ...commandsOf({ text }).flatMap((command) => [
      // GitHub inserts the value into the script: https://docs.github.com/en/actions/concepts/security/script-injections
      ...(command.includes('${{') ? [`A value is part of "${command}". Pass it by env.`] : []),
      ...(command.match(/\.ci\/[\w.-]+|npm run (-s )?[\w:-]+/g) ?? [])
        .filter((part) => !exists(part))
        .map((part) => `There is no ${part}`),
    ]),
  ];
}

it.each(workflows)('$name has no fault', ({ text }) => {
  expect(faultsOf(text)).toEqual([]);
});

it.each([
  ['permissions:\n  contents: read\n\nconc', 'conc', 'no permissions: the token could do more'],
  [/@[0-9a-f]{40} # v[\d.]+/, '@v4', 'tests: actions/checkout@v4 is not pinned to a commit'],
  ['          overwrite: true\n', '', 'diff: a second attempt of the run could not upload diff again'],
  ['bash .ci/run tests', 'bash .ci/new', 'There is no .ci/new'],
  ['bash .ci/run tests', 'npm run new -- one', 'There is no npm run new'],
  ['run tests', 'run ${{ github.head_ref', 'Pass it by env.'],
])('%s as %j is a fault', (from, to, fault) => {
  const { text = '' } = workflows.find(({ name }) => name === 'check.yml') ?? {};
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  expect(faultsOf(changed)).toEqual([expect.stringContaining(fault)]);
});

it('the job before the one that needs approval checks that approval is required', () => {
  const { plan, apply } = parse(workflows.find(({ name }) => name === 'deploy.yml')?.text ?? '').jobs;
  const checks = plan.steps.filter(({ run }: Yaml) =>
    run?.includes('.ci/require-approval.ts "$ENVIRONMENT"'),
  );
  expect(checks).toHaveLength(1);
  expect(plan.env.ENVIRONMENT).toBe(apply.environment);
  expect(plan.environment).not.toBe(apply.environment);
  expect(apply.needs).toContain('plan');
});

it('a job assumes a role only in the GitHub environment that the role trusts', () => {
  const kinds = new Set<string>();
  for (const { text } of workflows)
    for (const { environment, steps } of Object.values<Yaml>(parse(text).jobs))
      for (const [, kind = '', row = ''] of JSON.stringify(steps ?? []).matchAll(
        /role\/wallet-(\w+)-(\$.+?\}\})/g,
      )) {
        kinds.add(kind);
        expect(environment).toBe(githubEnvironments(row)[kind as RoleKind]);
        expect(`wallet-${kind}-${row}`).toBe(roleName(kind as RoleKind, row));
      }
  expect(kinds).toEqual(new Set(Object.keys(githubEnvironments(''))));
});

/** Each with its options, such as `wallet -- plan --stack` or `.ci/operate "$ENVIRONMENT" move-origin --zone`. */
const walletCommand = /(?:wallet -- |\.ci\/operate \S+ )([\w-]+)/;

it.each(commands.filter((command) => walletCommand.test(command)))('%s has known options', (command) => {
  const [called, name = ''] = walletCommand.exec(command) ?? [];
  const flags = command.split(called ?? '')[1]?.match(/--[\w-]+/g) ?? [];
  expect(flagsOf(name)).toEqual(expect.arrayContaining(flags));
});
