import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../architecture/sources';
import { commandsOf, readWorkflows, type Workflow } from './workflows';

// biome-ignore lint/suspicious/noExplicitAny: a workflow has no types
type Yaml = any;

const filesIn = (folder: string, ending: RegExp) =>
  readdirSync(join(projectRoot, folder))
    .filter((name) => ending.test(name))
    .map((name) => readFileSync(join(projectRoot, folder, name), 'utf8'));
/** The files that run the workflows' commands here. */
const tested = [
  ...filesIn('.ci', /^run$/),
  ...filesIn('test/ci', /(?<!workflows)\.test\.ts$/),
  ...filesIn('test/tools', /\.tool\.ts$/),
].join('\n');

/**
 * The first major of an action that runs on Node.js 24: GitHub took 20 off its runners
 * (https://github.blog/changelog/2025-09-19-deprecation-of-node-20-on-github-actions-runners/).
 * https://github.com/actions/upload-artifact/pull/745, https://github.com/actions/download-artifact/pull/452,
 * https://github.com/aws-actions/configure-aws-credentials/pull/1641
 */
const firstOnNode24: Readonly<Record<string, number>> = {
  'actions/checkout': 5,
  'actions/setup-node': 5,
  'actions/upload-artifact': 6,
  'actions/download-artifact': 7,
  'aws-actions/configure-aws-credentials': 6,
};

/** The scripts and npm commands in a command. */
const partsOf = (command: string) =>
  command.match(/\.ci\/[\w.-]+|npx cdk \w+|npm (run )?(-s )?[\w:-]+( -- \w+)?/g) ?? [command];

/** Faults that the linter does not find. */
function faultsOf(workflow: Workflow): string[] {
  const { permissions, jobs } = parse(workflow.text);
  // A job that calls a workflow of this project.
  const own = Object.entries<Yaml>(jobs).filter(([, { uses }]) => !uses?.startsWith('./'));
  const ofJobs = own.flatMap(([name, job]) => [
    ...(job['runs-on'] === 'ubuntu-24.04' ? [] : [`${name}: unknown runner`]),
    ...(job['timeout-minutes'] ? [] : [`${name}: no timeout`]),
    ...job.steps
      .filter(({ uses }: Yaml) => uses && !/^[\w/-]+@[0-9a-f]{40}$/.test(uses))
      .map(({ uses }: Yaml) => `${name}: ${uses} is not pinned to a commit`),
    ...job.steps
      .filter((step: Yaml) => step.uses?.startsWith('actions/upload-artifact@') && !step.with.overwrite)
      .map((step: Yaml) => `${name}: a second attempt of the run could not upload ${step.with.name} again`),
  ]);
  const ofCommands = commandsOf(workflow).flatMap((command) => [
    // GitHub inserts the value into the script: https://docs.github.com/en/actions/concepts/security/script-injections
    ...(command.includes('${{') ? [`A value is part of "${command}". Pass it by env.`] : []),
    ...partsOf(command)
      .filter((part) => !tested.includes(part))
      .map((part) => `No test runs "${part}"`),
    ...(command.includes('\n') ? [`"${command}" has several lines. Put them into a script.`] : []),
  ]);
  const ofActions = Array.from(workflow.text.matchAll(/uses: (\S+)@\S+ # v(\d+)/g))
    .filter(([, action = '', major]) => !(Number(major) >= (firstOnNode24[action] ?? Infinity)))
    .map(([, action, major]) => `${action} ${major} does not run on Node.js 24`);
  return [
    ...(permissions ? [] : ['no permissions: the token could do more']),
    ...ofJobs,
    ...ofActions,
    ...ofCommands,
  ];
}

const workflows = readWorkflows();
const check = workflows.find(({ path }) => path.endsWith('check.yml')) as Workflow;

describe('the workflows', () => {
  it.each(workflows)('$path has no fault', (workflow) => {
    expect(faultsOf(workflow)).toEqual([]);
  });

  it.each([
    ['permissions:\n  contents: read\n\nconc', 'conc', 'no permissions: the token could do more'],
    ['runs-on: ubuntu-24.04', 'runs-on: ubuntu-42.04', 'tests: unknown runner'],
    ['    timeout-minutes: 45\n', '', 'tests: no timeout'],
    [/@[0-9a-f]{40} # v[\d.]+/, '@v4', 'tests: actions/checkout@v4 is not pinned to a commit'],
    [/# v5[\d.]+/, '# v4.3.1', 'actions/checkout 4 does not run on Node.js 24'],
    ['          overwrite: true\n', '', 'diff: a second attempt of the run could not upload diff again'],
    ['bash .ci/run tests', 'bash .ci/new', 'No test runs ".ci/new"'],
    ['bash .ci/run tests', 'npm run new -- one', 'No test runs "npm run new -- one"'],
    ['run tests', 'run ${{ github.head_ref', 'Pass it by env.'],
    [
      'bash .ci/run tests',
      '|\n          bash .ci/run\n          b',
      'has several lines. Put them into a script.',
    ],
  ])('%s as %j is a fault', (from, to, fault) => {
    const text = check.text.replace(from, to);
    expect(text).not.toBe(check.text);
    expect(faultsOf({ ...check, text })).toEqual([expect.stringContaining(fault)]);
  });
});

const { plan, apply }: Record<string, Yaml> = parse(
  workflows.find(({ path }) => path.endsWith('deploy.yml'))?.text ?? '',
).jobs;
const stepWith = (job: Yaml, script: string) => job.steps.find(({ run }: Yaml) => run?.includes(script));

it('the job before the one that needs approval checks that approval is required', () => {
  expect(stepWith(plan, '.ci/require-approval.ts "$ENVIRONMENT"')).toBeDefined();
  expect(plan.env.ENVIRONMENT).toBe(apply.environment);
  expect(plan.environment).not.toBe(apply.environment);
  expect(apply.needs).toContain('plan');
});

it('a cancelled deployment names the page of the runbook', () => {
  expect(stepWith(apply, '.ci/cancelled')).toMatchObject({ if: 'cancelled()' });
});
