import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LineCounter, parseDocument, type YAMLSeq } from 'yaml';
import { githubEnvironments } from '../../domain/workflow-roles';
import type { Environment } from '../../lib/environment/environment';
import { stacksOf, type TableStack } from '../../lib/environment/stacks';
import { environments as table } from '../../lib/environments';
import { projectRoot } from '../architecture/sources';
import { first, newcomer } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { Workspace } from './workspace';

const workflows = readdirSync(join(projectRoot, '.github/workflows'))
  .map((file) => `.github/workflows/${file}`)
  .map((file) => ({ file, text: readFileSync(join(projectRoot, file), 'utf8') }));

/** What the choices of a workflow have to be, by the input's name. */
const choices: Readonly<Record<string, (environments: readonly Environment[]) => readonly string[]>> = {
  stack: (environments) => environments.flatMap(stacksOf).map(({ stackId }) => stackId),
  environment: (environments) => environments.map(({ name }) => name),
  zone: (environments) => {
    const most = Math.max(...environments.map(({ zones }) => zones.length));
    return Array.from({ length: most }, (_, index) => String(index + 1));
  },
};

/** Where workflows and table differ: file, line, and what has to stand there. */
function faults(environments: readonly Environment[]): string[] {
  return workflows.flatMap(({ file, text }) => {
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines });
    return Object.entries(choices).flatMap(([input, wanted]) => {
      const options = document.getIn(['on', 'workflow_dispatch', 'inputs', input, 'options']) as
        | YAMLSeq
        | undefined;
      const due = wanted(environments);
      if (options === undefined || JSON.stringify(options.toJSON()) === JSON.stringify(due)) return [];
      const { line } = lines.linePos(options.range?.[0] ?? 0);
      return [
        `${file}:${line}: the options of ${input} are not those of lib/environments.ts: [${due.join(', ')}]`,
      ];
    });
  });
}

it('workflows offer the stacks, environments and zones of the table', () => {
  expect(faults(table)).toEqual([]);
});

it('says which line to change when a row is added or removed', () => {
  const lineOf = (file: string, text: string) =>
    workflows
      .find((each) => each.file === file)
      ?.text.split('\n')
      .findIndex((line) => line.includes(text));
  for (const changed of [[...table, newcomer], table.slice(1)]) {
    const names = changed.map(({ name }) => name).join(', ');
    const stacks = changed
      .flatMap(stacksOf)
      .map(({ stackId }) => stackId)
      .join(', ');
    const deploy = '.github/workflows/deploy.yml';
    const smoke = '.github/workflows/smoke.yml';
    const lineIn = (file: string) => Number(lineOf(file, 'options: [')) + 1;
    expect(faults(changed)).toEqual(
      expect.arrayContaining([
        `${deploy}:${lineIn(deploy)}: the options of stack are not those of lib/environments.ts: [${stacks}]`,
        `${smoke}:${lineIn(smoke)}: the options of environment are not those of lib/environments.ts: [${names}]`,
      ]),
    );
  }
  const zones = table.map((row) => ({ ...row, zones: [...row.zones, 'x'] }));
  expect(faults(zones)).toContainEqual(expect.stringContaining('[1, 2, 3, 4]'));
});

it('no workflow names an environment, a region or an account elsewhere', () => {
  const words = table.flatMap((row) => [
    row.name,
    ...stacksOf(row).flatMap(({ stackId, region }) => [stackId, region]),
  ]);
  const elsewhere = workflows.flatMap(({ file, text }) =>
    text
      .split('\n')
      .filter((line) => !/^\s*(options:|description:|#)/.test(line))
      .filter(
        (line) => words.some((word) => new RegExp(`\\b${word}\\b`).test(line)) || /\b\d{12}\b/.test(line),
      )
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(elsewhere).toEqual([]);
});

it('jobs run in the GitHub environments that the roles trust', () => {
  const used = new Set(
    workflows.flatMap(({ text }) =>
      Array.from(text.matchAll(/^ {4}environment: (\S.*)$/gm), ([, name = '']) => name),
    ),
  );
  const named = [...used].map((name) => name.replace(/\$\{\{.*?\}\}/, 'eu'));
  expect(new Set(named)).toEqual(new Set(Object.values(githubEnvironments('eu'))));
});

describe('what a step learns of the table', () => {
  const folder = temporaryFolder();
  const stacks = table.flatMap(stacksOf);
  const replica = stacks.find(({ stackId, environment }) => stackId !== environment.stackId);
  const { stackId, region, environment } = replica ?? (stacks[0] as TableStack);

  it.each([
    [
      'node --import tsx .ci/target.ts "$STACK"',
      { STACK: stackId },
      [`environment=${environment.name}`, `region=${region}`, `serves=${!replica}`],
    ],
    [
      'node --import tsx .ci/target.ts "$ENVIRONMENT"',
      { ENVIRONMENT: first.name },
      [
        `stack=${first.stackId}`,
        `region=${first.region}`,
        'serves=true',
        `deploy-role=wallet-deploy-${first.name}`,
      ],
    ],
    [
      'node --import tsx .ci/target.ts',
      {},
      [`environments=${JSON.stringify(table.map(({ name }) => name))}`],
    ],
  ])('%s', async (command, variables, lines) => {
    const { exitCode, output } = await new Workspace(folder()).step(command, variables);
    expect({ exitCode, lines: output.split('\n') }).toEqual({
      exitCode: 0,
      lines: expect.arrayContaining(lines),
    });
  });

  it('fails for what is not in it', async () => {
    const failed = await new Workspace(folder()).step('node --import tsx .ci/target.ts "$STACK"', {
      STACK: newcomer.stackId,
    });
    expect(failed).toMatchObject({
      exitCode: 1,
      output: '',
      stderr: expect.stringContaining(newcomer.stackId),
    });
  });
});
