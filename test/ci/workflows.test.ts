import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { longestMoveMinutes } from '../../cli/origin/move-origin';
import { githubEnvironments, type RoleKind, roleName, trustedJobs } from '../../domain/workflow-roles';
import { databaseVersion } from '../../lib/database/cluster';
import { projectRoot } from '../architecture/sources';
import { withSla } from '../support/rows';
import { stackOf } from '../support/stacks';
import { flagsOf } from '../support/wallet-command';
import { commands, commandsOf, workflows } from './workspace';

// biome-ignore lint/suspicious/noExplicitAny: a workflow has no types
type Yaml = any;

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
const { scripts, optionalDependencies } = JSON.parse(read('package.json'));
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
  const { on, jobs, permissions, env: common } = parse(text);
  const every = Object.entries<Yaml>(jobs);
  const uploaded = every.flatMap(([, { steps = [] }]) =>
    steps
      .filter((step: Yaml) => step.uses?.includes('/upload-artifact@'))
      .map((step: Yaml) => step.with?.name),
  );

  // What it reads of inputs, steps, needs and the matrix: actionlint.
  it.each(every)('%s has the variables and permissions that it needs, and no others', (_, job) => {
    const { steps = [] } = job;
    for (const { run = '', env } of steps) {
      const variables = named(/\$\{?([A-Z]\w+)/g, run).filter((each) => !each.startsWith('GITHUB_'));
      expect(Object.keys({ ...common, ...job.env, ...env })).toEqual(expect.arrayContaining(variables));
    }
    expect(permissions).toMatchObject({ contents: 'read' });
    expect(job.permissions ?? permissions).toEqual(permissionsFor(job));
    for (const step of steps.filter((each: Yaml) => each.uses?.includes('/download-artifact@')))
      expect(uploaded).toContain(step.with?.name ?? 'a name');
    const setUp = ['actions/checkout@', 'actions/setup-node@'].map((action) => ({
      uses: expect.stringContaining(action),
    }));
    if (has(job, 'tsx') || has(job, 'npm run') || has(job, 'wallet'))
      expect(steps.slice(0, 3)).toMatchObject(job.uses ? [] : [...setUp, { run: 'npm ci' }]);
    // Anybody who may write can start a workflow on a branch.
    if ('workflow_dispatch' in on && !job.needs) expect(job.if).toBe("github.ref == 'refs/heads/main'");
  });
});

it.each([
  ['guardrails.md', / (\d+) days as the artifact/, 'drift.yml', 'residency-'],
  ['deploying.md', /last assembly of the past (\d+) days/, 'deploy.yml', 'deployed-'],
])('docs/%s says how long GitHub keeps an artifact: %s', (document, sentence, workflow, artifact) => {
  const [, days] = sentence.exec(read(`docs/${document}`)) ?? [];
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
  const run = [read('.ci/run'), ...commands].join('\n');
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

it('functions, workflows and the dev container have the version of Node.js in .nvmrc', () => {
  const version = read('.nvmrc').trim();
  const versions = workflows.flatMap(({ text }) => text.match(/(?<=node-version: )\d+/g) ?? []);
  expect(new Set(versions)).toEqual(new Set([version]));
  for (const { Properties } of stackOf(withSla).all('AWS::Lambda::Function'))
    expect(Properties.Runtime).toBe(`nodejs${version}.x`);
  const { image } = parse(read('.github/workflows/check.yml')).jobs.checks.container;
  expect(image).toContain(`node:${version}-`);
  expect(JSON.parse(read('.devcontainer/devcontainer.json'))).toMatchObject({ image, remoteUser: 'node' });
});

it('the local PostgreSQL has the version of the stacks', () => {
  const [version, ...others] = new Set(Object.values(optionalDependencies));
  expect(others).toEqual([]);
  expect(version).toMatch(new RegExp(`^${databaseVersion.auroraPostgresFullVersion}\\.`));
});
