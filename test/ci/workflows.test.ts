import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { startNode } from '../support/node-process';
import { temporaryFolder } from '../support/temporary-folder';
import { readWorkflows, runSteps, type Workflow } from './workflows';

// biome-ignore lint/suspicious/noExplicitAny: a workflow is as free as this
type Yaml = any;

/** What the linter does not see. */
function faultsOf(workflow: Workflow): string[] {
  const { permissions, jobs } = parse(workflow.text);
  const ofJobs = Object.entries<Yaml>(jobs).flatMap(([name, job]) => [
    ...(job['runs-on'] === 'ubuntu-24.04' ? [] : [`${name}: no runner that is known to exist`]),
    ...(job['timeout-minutes'] ? [] : [`${name}: no timeout`]),
    ...job.steps
      .filter(({ uses }: Yaml) => uses && !/^[\w/-]+@[0-9a-f]{40}$/.test(uses))
      .map(({ uses }: Yaml) => `${name}: ${uses} is not pinned to a commit`),
    ...job.steps
      .filter((step: Yaml) => step.uses?.startsWith('actions/upload-artifact@') && !step.with.overwrite)
      .map((step: Yaml) => `${name}: a second attempt of the run could not upload ${step.with.name} again`),
  ]);
  const ofCommands = runSteps(workflow).flatMap(({ place, command }) => [
    // GitHub puts the value into the script's text: https://docs.github.com/en/actions/concepts/security/script-injections
    ...(command.includes('${{') ? [`${place} puts a value into a command. Pass it by env.`] : []),
    ...(command.includes('\n') ? [`${place} has more than one line. Put them into a script.`] : []),
  ]);
  return [...(permissions ? [] : ['no permissions: the token could do more']), ...ofJobs, ...ofCommands];
}

const workflows = readWorkflows();
const check = workflows.find(({ path }) => path.endsWith('check.yml')) as Workflow;

describe('the workflows', () => {
  it.each(workflows)('$path has no fault', (workflow) => {
    expect(faultsOf(workflow)).toEqual([]);
  });

  it.each([
    ['permissions:\n  contents: read\n\nconc', 'conc', 'no permissions: the token could do more'],
    ['runs-on: ubuntu-24.04', 'runs-on: ubuntu-42.04', 'tests: no runner that is known to exist'],
    ['    timeout-minutes: 45\n', '', 'tests: no timeout'],
    [/@[0-9a-f]{40}/, '@v4', 'tests: actions/checkout@v4 is not pinned to a commit'],
    ['          overwrite: true\n', '', 'diff: a second attempt of the run could not upload diff again'],
    ['run tests', 'run ${{ github.head_ref', ' puts a value into a command. Pass it by env.'],
    ['bash .ci/run tests', '|\n          a\n          b', ' has more than one line. Put them into a script.'],
  ])('%s as %j is a fault', (from, to, fault) => {
    const text = check.text.replace(from, to);
    expect(text).not.toBe(check.text);
    expect(faultsOf({ ...check, text })).toEqual([expect.stringContaining(fault)]);
  });
});

describe('the linter', () => {
  const folder = temporaryFolder();
  const lint = (text: string) => {
    const file = join(folder(), 'check.yml');
    writeFileSync(file, text);
    return startNode('--import', 'tsx', 'test/ci/lint-workflows.ts', file).ended();
  };

  it('passes the workflows of this project', async () => {
    const { exitCode, stderr } = await startNode('--import', 'tsx', 'test/ci/lint-workflows.ts').ended();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `Linted ${workflows.length} workflows.\n` });
  });

  it('refuses what GitHub would refuse, or read as nothing', async () => {
    const { exitCode, stderr } = await lint(
      check.text
        .replace('needs: diff', 'needs: nothing')
        .replace('matrix.node', 'matrix.nodes')
        .replace('contents: read', 'contents: reed')
        .replace('timeout-minutes', 'timeout-minuten'),
    );
    expect(exitCode).toBe(1);
    const [needs, matrix, permission, key] = [
      "unknown job 'nothing'",
      'nodes',
      "'reed'",
      "'timeout-minuten'",
    ];
    for (const part of [needs, matrix, permission, key]) expect(stderr).toContain(part);
    expect(stderr).toMatch(/check\.yml:\d+: /);
  });
});
