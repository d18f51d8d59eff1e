import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { longestMoveMinutes } from '../../cli/origin/move-origin';
import { githubEnvironments, type RoleKind, roleName, trustedJobs } from '../../domain/workflow-roles';
import { databaseVersion } from '../../lib/database/cluster';
import { projectRoot, readSource as read } from '../architecture/sources';
import { withSla } from '../support/rows';
import { stackOf } from '../support/stacks';
import { flagsOf } from '../support/wallet-command';
import { commands, workflows } from './workspace';

// biome-ignore lint/suspicious/noExplicitAny: a workflow has no types
type Yaml = any;

const { scripts, optionalDependencies } = JSON.parse(read('package.json'));
const stepsOf = (text: string) => Object.values<Yaml>(parse(text).jobs).flatMap(({ steps = [] }) => steps);
const workflow = (name: string): Yaml => parse(read(`.github/workflows/${name}`));

it.each(commands)('%s runs what there is, with known options', (command) => {
  for (const [path] of command.matchAll(/\.ci\/[\w.-]+/g))
    expect(existsSync(join(projectRoot, path))).toBe(true);
  for (const [, name] of command.matchAll(/npm run (?:-s )?([\w:-]+)/g))
    expect(Object.keys(scripts)).toContain(name);
  // Such as `wallet -- plan --stack` or `.ci/run-wallet "$ENVIRONMENT" move-origin --zone`.
  const [called = '', name] = /(?:wallet -- |\.ci\/run-wallet \S+ )([\w-]+)/.exec(command) ?? [];
  const flags = command.split(called)[1]?.match(/--[\w-]+/g) ?? [];
  if (name) expect(flagsOf(name)).toEqual(expect.arrayContaining(flags));
});

const has = (job: Yaml, text: string) => JSON.stringify(job).includes(text);

const permissionsFor = (job: Yaml) =>
  has(job, 'gh pr comment')
    ? { 'pull-requests': 'write' }
    : {
        contents: 'read',
        ...(has(job, 'aws-actions/') && { 'id-token': 'write' }),
        ...(['target.yml', 'GH_TOKEN', 'github-token'].some((text) => has(job, text)) && { actions: 'read' }),
      };

/** Variables that are not named after the input or output that they have. */
const values: Readonly<Record<string, unknown>> = {
  // Of the merge of a change, or of a push to main: what was there before.
  COMPATIBLE_BASE: 'HEAD^1',
  GH_REPO: 'github.repository',
  GH_TOKEN: 'github.token',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
  KINDS: 'inputs.github-environments',
  PULL_REQUEST: 'github.event.pull_request.number',
  RESERVE: "inputs.reserve && '--reserve' || '--no-reserve'",
};
const path = String.raw`^(inputs|matrix|(needs|steps)\.[\w-]+\.outputs)\.`;

/** The inputs of actions in every step. */
const inputs: Readonly<Record<string, object>> = {
  'actions/checkout': { 'persist-credentials': false },
  'actions/setup-node': { 'node-version': expect.anything() },
  // Otherwise a second attempt of the run could not upload it again.
  'actions/upload-artifact': { overwrite: true },
  'aws-actions/configure-aws-credentials': { 'aws-region': expect.stringContaining('.region }}') },
};

/** The one workflow that others call. */
const called = workflow('target.yml').on.workflow_call;

describe.each(workflows)('$name', ({ name: file, text }) => {
  const { name, on, jobs, permissions, env: common } = parse(text);
  const every = Object.entries<Yaml>(jobs);
  const stepsBefore = ({ needs = [] }: Yaml): Yaml[] =>
    [needs].flat().flatMap((name) => [...(jobs[name].steps ?? []), ...stepsBefore(jobs[name])]);
  const outputsOf = (job: Yaml) => (job.uses ? called : job).outputs;

  it('is named as its file', () => expect(`${name}.yml`).toBe(file));

  it.each(every)('%s has the variables and permissions that it needs, and no others', (id, job) => {
    const { steps = [] } = job;
    for (const { run = '', env } of steps) {
      // With those of a script, except the one that runs on any machine.
      const [script] = /\.ci\/(?!run )[\w-]+(?= )/.exec(run) ?? [];
      const code = run + (script ? read(script) : '');
      const variables = code.match(/(?<=\$\{?)(?!GITHUB_|BASH_|PIPE)[A-Z]\w+/g) ?? [];
      const given = { ...common, ...job.env, ...env };
      expect(Object.keys(given)).toEqual(expect.arrayContaining(variables));
      for (const [name, value] of Object.entries(given)) {
        const usual = expect.stringMatching(`${path}${name.toLowerCase().replace('_', '-')}$`);
        const [, expression] = /^\$\{\{ (.+) \}\}$/.exec(String(value)) ?? [];
        expect([name, expression ?? String(value)]).toEqual([name, values[name] ?? usual]);
      }
    }
    for (const { uses = '', with: given = {} } of steps) {
      expect(given).toMatchObject(inputs[uses.split('@')[0]] ?? {});
      // Those of assets: .ci/digest-plan reads them, too.
      expect([uses, given['include-hidden-files']]).toEqual([uses, /cdk\.out/.test(given.path) || undefined]);
      if (!uses.includes('/download-artifact@')) continue;
      const before = given['run-id'] ? stepsOf(text) : stepsBefore(job);
      const uploads = before.filter((step) => step.uses?.includes('/upload-artifact@'));
      expect(uploads.map((upload) => upload.with.name)).toContain(given.name);
    }
    for (const [, name = '', output = ''] of JSON.stringify(job).matchAll(
      /needs\.([\w-]+)\.outputs\.([\w-]+)/g,
    ))
      expect(Object.keys(outputsOf(jobs[name]))).toContain(output);
    for (const [name, value] of Object.entries(job.outputs ?? {})) {
      const [, step] = /^\$\{\{ steps\.([\w-]+)\.outputs\./.exec(`${value}`) ?? [];
      expect(steps.map((each: Yaml) => each.id)).toContain(step);
      if (on.workflow_call) expect(called.outputs[name].value).toBe(`\${{ jobs.${id}.outputs.${name} }}`);
    }
    if (job.uses) expect(Object.keys(job.with)).toEqual(Object.keys(called.inputs));
    else expect(job).toMatchObject({ 'runs-on': 'ubuntu-24.04', 'timeout-minutes': expect.any(Number) });
    expect(permissions).toMatchObject({ contents: 'read' });
    expect(job.permissions ?? permissions).toEqual(permissionsFor(job));
    const setUp = ['actions/checkout@', 'actions/setup-node@'].map((action) => ({
      uses: expect.stringContaining(action),
    }));
    if (has(job, 'tsx') || has(job, 'npm run') || has(job, 'wallet'))
      expect(steps.slice(0, 3)).toMatchObject(job.uses ? [] : [...setUp, { run: 'npm ci' }]);
    // Anybody who may write can start a workflow on a branch.
    if ('workflow_dispatch' in on && !job.needs) expect(job.if).toBe("github.ref == 'refs/heads/main'");
  });
});

it('says of each input what it is', () => {
  const all = workflows.flatMap(({ text }) => Object.values<Yaml>(parse(text).on));
  const inputs = all.flatMap((each) => Object.entries(each?.inputs ?? {}));
  expect(inputs.length).toBeGreaterThan(5);
  for (const input of inputs)
    expect(input).toEqual([expect.anything(), expect.objectContaining({ description: expect.any(String) })]);
});

it.each([
  ['guardrails.md', / (\d+) days as the artifact/, 'drift.yml', 'residency-'],
  ['deploying.md', /last assembly of the past (\d+) days/, 'deploy.yml', 'deployed-'],
])('docs/%s says how long GitHub keeps an artifact: %s', (document, sentence, workflow, artifact) => {
  const [, days] = sentence.exec(read(`docs/${document}`)) ?? [];
  const kept = stepsOf(read(`.github/workflows/${workflow}`)).filter((step) => step.with?.['retention-days']);
  expect(kept.map((step) => step.with)).toMatchObject([
    { name: expect.stringMatching(`^${artifact}`), 'retention-days': Number(days) },
  ]);
});

it('workflows assume the roles that trust them, in GitHub environments that were checked', () => {
  const assumed = workflows.flatMap(({ name: file, text }) => {
    const { jobs } = parse(text);
    const checked: string | undefined = jobs.target?.with?.['github-environments'];
    // Every other job waits for the check.
    const waits = (name: string): boolean =>
      name === 'target' || [jobs[name].needs ?? []].flat().some((each) => waits(each));
    if (checked) expect(Object.keys(jobs).filter((name) => !waits(name))).toEqual([]);
    return Object.values<Yaml>(jobs).flatMap(({ environment, steps = [] }) =>
      Array.from(JSON.stringify(steps).matchAll(/role\/wallet-(\w+)-(\$.+?\}\})/g), ([, kind, row = '']) => {
        const own = githubEnvironments(row);
        const used = trustedJobs[kind as RoleKind].kinds.find((each) => own[each] === environment);
        // `drift` has no target: it checks the GitHub environments that it lists.
        expect(checked?.split(',') ?? ['read']).toContain(used);
        return `${roleName(kind as RoleKind, '')} in ${file}`;
      }),
    );
  });
  const trusted = Object.entries(trustedJobs).flatMap(([kind, { workflows }]) =>
    workflows.map((name) => `wallet-${kind}- in ${name}.yml`),
  );
  expect(new Set(assumed)).toEqual(new Set(trusted));
});

it('the longest move of the origin fits into its job and the session of its role, with minutes for the preparation', () => {
  const { move } = workflow('move-origin.yml').jobs;
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

it('a check runs every npm script', () => {
  const run = [read('.ci/run'), ...commands].join('\n');
  const unchecked = Object.keys(scripts).filter(
    (name) => !new RegExp(`npm (run (-s )?)?${name}(?![\\w:-])`).test(run),
  );
  // The linter has the rules of `format`, `compatible` runs `start`, `watch` its program again, and npm runs `postsynth` after `synth`.
  expect(unchecked).toEqual(['start', 'watch', 'postsynth', 'format']);
});

it('functions, workflows and the dev container have the version of Node.js in .nvmrc', () => {
  const version = read('.nvmrc').trim();
  const versions = workflows.flatMap(({ text }) => text.match(/(?<=node-version: )\d+/g) ?? []);
  expect(new Set(versions)).toEqual(new Set([version]));
  for (const { Properties } of stackOf(withSla).all('AWS::Lambda::Function'))
    expect(Properties.Runtime).toBe(`nodejs${version}.x`);
  const { image } = workflow('check.yml').jobs.checks.container;
  expect(image).toContain(`node:${version}-`);
  expect(JSON.parse(read('.devcontainer/devcontainer.json'))).toMatchObject({ image, remoteUser: 'node' });
});

it('the local PostgreSQL has the version of the stacks', () => {
  const [version, ...others] = new Set(Object.values(optionalDependencies));
  expect(others).toEqual([]);
  expect(version).toMatch(new RegExp(`^${databaseVersion.auroraPostgresFullVersion}\\.`));
});
