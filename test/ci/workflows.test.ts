import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { longestMoveMinutes } from '../../cli/origin/move-origin';
import { githubEnvironments, type RoleKind, roleName, trustedJobs } from '../../domain/workflow-roles';
import { projectRoot } from '../architecture/sources';
import { flagsOf } from '../support/wallet-command';
import { commands, commandsOf, workflows } from './workspace';

// biome-ignore lint/suspicious/noExplicitAny: a workflow has no types
type Yaml = any;

const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
const exists = (part: string) =>
  part.startsWith('.ci/') ? existsSync(join(projectRoot, part)) : (part.split(' ').at(-1) ?? '') in scripts;

/** Faults that actionlint and zizmor do not find. */
function faultsOf(text: string): string[] {
  const steps = Object.values<Yaml>(parse(text).jobs).flatMap((job) => job.steps ?? []);
  const uploads = steps.filter(({ uses = '' }) => uses.startsWith('actions/upload-artifact@'));
  const called = commandsOf({ text }).flatMap(
    (command) => command.match(/\.ci\/[\w.-]+|npm run (-s )?[\w:-]+/g) ?? [],
  );
  return [
    ...uploads
      .filter(({ with: { overwrite } }) => !overwrite)
      .map(({ with: { name } }) => `A second attempt of the run could not upload ${name} again`),
    ...called.filter((part) => !exists(part)).map((part) => `There is no ${part}`),
  ];
}

it.each(workflows)('$name has no fault', ({ text }) => {
  expect(faultsOf(text)).toEqual([]);
});

it.each([
  ['          overwrite: true\n', '', 'A second attempt of the run could not upload diff again'],
  ['bash .ci/run tests', 'bash .ci/new', 'There is no .ci/new'],
  ['bash .ci/run tests', 'npm run new -- one', 'There is no npm run new'],
])('%s as %j is a fault', (from, to, fault) => {
  const { text = '' } = workflows.find(({ name }) => name === 'check.yml') ?? {};
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  expect(faultsOf(changed)).toEqual([expect.stringContaining(fault)]);
});

/** The names that a pattern finds in a part of a workflow, each once. */
const named = (pattern: RegExp, part: Yaml): readonly string[] =>
  [...new Set(Array.from(JSON.stringify(part).matchAll(pattern), ([, name = '']) => name))].sort();
const has = (job: Yaml, text: string) => JSON.stringify(job).includes(text);

/** The permissions that the steps of a job need. */
const permissionsFor = (job: Yaml) =>
  has(job, 'gh pr comment')
    ? { 'pull-requests': 'write' }
    : {
        contents: 'read',
        ...(has(job, 'aws-actions/') && { 'id-token': 'write' }),
        ...(['target.yml', 'GH_TOKEN', 'github-token'].some((text) => has(job, text)) && { actions: 'read' }),
      };

describe.each(workflows)('$name', ({ text }) => {
  const { on, jobs, permissions, ...others } = parse(text);
  const { inputs = {} } = on.workflow_call ?? on.workflow_dispatch ?? {};
  const every = Object.entries<Yaml>(jobs);
  const uploaded = every.flatMap(([, { steps = [] }]) =>
    steps
      .filter((step: Yaml) => step.uses?.includes('/upload-artifact@'))
      .map((step: Yaml) => step.with?.name),
  );

  it('reads the inputs that it declares', () => {
    expect(named(/inputs\.([\w-]+)/g, { jobs, others })).toEqual(Object.keys(inputs).sort());
    expect(permissions).toMatchObject({ contents: 'read' });
  });

  it.each(every)('%s reads what exists, and has the permissions that it needs and no others', (name, job) => {
    const { steps = [], strategy = {} } = job;
    const needs = [job.needs ?? []].flat();
    expect(named(/steps\.([\w-]+)\./g, job)).toEqual(steps.flatMap(({ id = [] }) => id).sort());
    expect(needs).toEqual(expect.arrayContaining([...named(/needs\.([\w-]+)\./g, job)]));
    const called = job.uses ? parse(readFileSync(join(projectRoot, job.uses), 'utf8')).on.workflow_call : job;
    const read = named(new RegExp(`(?:needs|jobs)\\.${name}\\.outputs\\.([\\w-]+)`, 'g'), { jobs, on });
    expect(Object.keys(called.outputs ?? {})).toEqual(expect.arrayContaining([...read]));
    if (!job.uses) expect(read).toHaveLength(Object.keys(job.outputs ?? {}).length);
    const { include, ...matrix } = strategy.matrix ?? {};
    if (!include) expect(named(/matrix\.(\w+)/g, steps)).toEqual(Object.keys(matrix));
    for (const { run = '', env } of steps) {
      const variables = named(/\$\{?([A-Z]\w+)/g, run).filter((each) => !each.startsWith('GITHUB_'));
      expect(Object.keys({ ...others.env, ...job.env, ...env })).toEqual(expect.arrayContaining(variables));
    }
    expect(job.permissions ?? permissions).toEqual(permissionsFor(job));
    for (const step of steps.filter((each: Yaml) => each.uses?.includes('/download-artifact@')))
      expect(uploaded).toContain(step.with?.name ?? 'a name');
    const setUp = ['actions/checkout@', 'actions/setup-node@'].map((action) => ({
      uses: expect.stringContaining(action),
    }));
    if (has(job, 'tsx') || has(job, 'npm run') || has(job, 'wallet'))
      expect(steps.slice(0, 3)).toMatchObject(job.uses ? [] : [...setUp, { run: 'npm ci' }]);
    // Anybody who may write can start a workflow on a branch.
    if ('workflow_dispatch' in on && needs.length === 0)
      expect(job.if).toBe("github.ref == 'refs/heads/main'");
  });
});

it.each([
  ['guardrails.md', / (\d+) days as the artifact/, 'drift.yml', 'residency-'],
  ['deploying.md', /last assembly of the past (\d+) days/, 'deploy.yml', 'deployed-'],
])('docs/%s says how long GitHub keeps an artifact: %s', (document, sentence, workflow, artifact) => {
  const [, days] = sentence.exec(readFileSync(join(projectRoot, 'docs', document), 'utf8')) ?? [];
  const { text = '' } = workflows.find(({ name }) => name === workflow) ?? {};
  const steps = Object.values<Yaml>(parse(text).jobs).flatMap((job) => job.steps ?? []);
  const upload = steps.find(
    ({ uses = '', with: { name = '' } = {} }) => /upload-artifact@/.test(uses) && name.startsWith(artifact),
  );
  expect(upload.with['retention-days']).toBe(Number(days));
});

/** The jobs that assume a role, by workflow. */
const rolesOf = ({ text }: { readonly text: string }) =>
  Object.values<Yaml>(parse(text).jobs).flatMap(({ environment, steps = [] }) =>
    Array.from(
      JSON.stringify(steps).matchAll(/role\/wallet-(\w+)-(\$.+?\}\})/g),
      ([, kind = '', row = '']) => ({
        kind: kind as RoleKind,
        row,
        environment,
      }),
    ),
  );

it.each(workflows)(
  '$name assumes roles only where they trust it, in GitHub environments that it checked',
  (workflow) => {
    const { jobs } = parse(workflow.text);
    const checked: string = jobs.target?.with?.['github-environments'] ?? '';
    for (const { kind, row, environment } of rolesOf(workflow)) {
      const { workflows: trusted, kinds } = trustedJobs[kind];
      expect(trusted.map((name) => `${name}.yml`)).toContain(workflow.name);
      const of = kinds.find((each) => githubEnvironments(row)[each] === environment);
      expect(of).toBeDefined();
      expect(`wallet-${kind}-${row}`).toBe(roleName(kind, row));
      // `drift` has no target: it checks the GitHub environments that it lists.
      if (checked) expect(checked.split(',')).toContain(of);
    }
    // Every other job waits for the check.
    const waits = (name: string): boolean =>
      name === 'target' || [jobs[name].needs ?? []].flat().some((each) => waits(each));
    if (checked) expect(Object.keys(jobs).filter((name) => !waits(name))).toEqual([]);
  },
);

it('every workflow that a role trusts assumes it', () => {
  const assumed = workflows.flatMap((workflow) =>
    rolesOf(workflow).map(({ kind }) => `${kind} in ${workflow.name}`),
  );
  const trusted = Object.entries(trustedJobs).flatMap(([kind, { workflows }]) =>
    workflows.map((name) => `${kind} in ${name}.yml`),
  );
  expect(new Set(assumed)).toEqual(new Set(trusted));
});

it('the target of a run is checked in the GitHub environments of its input "github-environments"', () => {
  const { steps } = parse(workflows.find(({ name }) => name === 'target.yml')?.text ?? '').jobs.target;
  expect(steps.at(-1)).toMatchObject({
    run: 'node --require tsx/cjs .ci/require-protection.ts "$ENVIRONMENT" "$KINDS"',
    env: {
      ENVIRONMENT: expect.stringContaining(' steps.target.outputs.environment '),
      KINDS: expect.stringContaining(' inputs.github-environments '),
    },
  });
});

it('the longest move of the origin fits into its job and the session of its role, with minutes for the preparation', () => {
  const { move } = parse(workflows.find(({ name }) => name === 'move-origin.yml')?.text ?? '').jobs;
  const [{ 'role-duration-seconds': session }] = move.steps.flatMap((each: Yaml) =>
    each.with?.['role-to-assume'] ? each.with : [],
  );
  for (const minutes of [move['timeout-minutes'], session / 60])
    expect(minutes).toBeGreaterThanOrEqual(longestMoveMinutes + 10);
  expect(move.steps.at(-1)).toEqual({
    run: 'bash .ci/explain-cancellation move-origin "$ENVIRONMENT"',
    if: 'cancelled()',
  });
});

/** Those that neither `.ci/run` nor a workflow runs. */
const uncheckedScripts = (names: readonly string[]) => {
  const run = [readFileSync(join(projectRoot, '.ci/run'), 'utf8'), ...commands].join('\n');
  return names.filter((name) => !new RegExp(`npm (run (-s )?)?${name}(?![\\w:-])`).test(run));
};
it('a check runs every npm script', () => {
  // The linter has the rules of `format`, `compatible` runs `start`, `watch` its program again, and npm runs `postsynth` after `synth`.
  expect(uncheckedScripts(Object.keys(scripts))).toEqual(['start', 'watch', 'postsynth', 'format']);
  expect(uncheckedScripts(['compatible', 'unheard-of', 'mut'])).toEqual(['unheard-of', 'mut']);
});

/** Each with its options, such as `wallet -- plan --stack` or `.ci/run-wallet "$ENVIRONMENT" move-origin --zone`. */
const walletCommand = /(?:wallet -- |\.ci\/run-wallet \S+ )([\w-]+)/;

it.each(commands.filter((command) => walletCommand.test(command)))('%s has known options', (command) => {
  const [called, name = ''] = walletCommand.exec(command) ?? [];
  const flags = command.split(called ?? '')[1]?.match(/--[\w-]+/g) ?? [];
  expect(flagsOf(name)).toEqual(expect.arrayContaining(flags));
});
