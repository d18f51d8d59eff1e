import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { readWorkflows, runSteps, type Workflow } from './workflows';

/** What runs each command of the workflows here, word for word or by its script: `.ci/run`, or a test's file. */
const runBy: Readonly<Record<string, string>> = commandsOf({
  '.ci/run': [
    'npm ci',
    'npm run synth',
    'bash .ci/run tests',
    'bash .ci/run checks',
    'bash .ci/install-tools',
  ],
  'test/tools/cfn-lint.tool.ts': ['bash .ci/install-cfn-lint /opt/cfn-lint'],
  'test/tools/diff.tool.ts': ['npm run -s diff -- --base HEAD^1 | tee diff.md >> "$GITHUB_STEP_SUMMARY"'],
  'test/ci/comment.test.ts': ['node .ci/comment.js diff.md'],
  'test/ci/github.test.ts': [
    'node --import tsx .ci/require-green.ts',
    'node --import tsx .ci/last-good.ts "$STACK"',
  ],
  'test/ci/table.test.ts': [
    'node --import tsx .ci/target.ts',
    'node --import tsx .ci/target.ts "$STACK"',
    'node --import tsx .ci/target.ts "$ENVIRONMENT"',
  ],
  'test/ci/steps.test.ts': [
    'bash .ci/plan "$STACK"',
    'bash .ci/digest "$DIGEST"',
    'npm run -s wallet -- plan --stack "$STACK" --verify plan/plan.json',
    'bash .ci/report npm run -s wallet -- preflight --environment "$ENVIRONMENT"',
    'bash .ci/report bash .ci/deploy cdk.out "$STACK"',
    'bash .ci/take-back "$STACK"',
    'bash .ci/smoke "$ENVIRONMENT"',
    'bash .ci/report npm run -s wallet -- drift --environment "$ENVIRONMENT"',
    'bash .ci/operate "$ENVIRONMENT" origin-status',
    'bash .ci/operate "$ENVIRONMENT" move-origin --zone "$ZONE" "$RESERVE" --dry-run',
    'bash .ci/operate "$ENVIRONMENT" move-origin --zone "$ZONE" "$RESERVE" --yes',
  ],
});

function commandsOf(byFile: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  const pairs = Object.entries(byFile).flatMap(([file, commands]) => commands.map((each) => [each, file]));
  return Object.fromEntries(pairs);
}

/** What is wrong between the commands of the workflows and the map, a sentence each. */
function faultsOf(workflows: readonly Workflow[], map: Readonly<Record<string, string>>): string[] {
  const steps = workflows.flatMap(runSteps);
  return [
    ...steps
      .filter(({ command }) => !(command in map))
      .map(
        ({ place, command }) =>
          `${place}: nothing here runs "${command}". Test it, and name the test in runBy.`,
      ),
    ...Object.keys(map)
      .filter((command) => !steps.some((step) => step.command === command))
      .map((command) => `No workflow runs "${command}".`),
    ...Object.entries(map)
      .filter(([command, file]) => !isRunBy(file, command))
      .map(([command, file]) => `${file} does not run "${command}".`),
  ];
}

function isRunBy(file: string, command: string): boolean {
  const path = join(projectRoot, file);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, 'utf8');
  if (file === '.ci/run') {
    const [, group] = /^bash \.ci\/run (\w+)$/.exec(command) ?? [];
    return text.split('\n').some((line) => line.trim() === (group ? `${group}() {` : command));
  }
  const [script] = /\.ci\/[\w.-]+|npm run (-s )?[\w:-]+/.exec(command) ?? [];
  return script !== undefined && text.includes(script);
}

const workflows = readWorkflows();

it('a test or .ci/run runs every command of the workflows', () => {
  expect(faultsOf(workflows, runBy)).toEqual([]);
});

const workflowWith = (run: string): Workflow[] => [
  { path: 'a.yml', text: `on: push\njobs:\n  a:\n    steps:\n      - uses: b\n      - run: ${run}\n` },
];

it.each([
  ['bash .ci/new', {}, 'a.yml:6: nothing here runs "bash .ci/new". Test it, and name the test in runBy.'],
  [
    'bash .ci/new',
    { 'bash .ci/new': 'test/ci/new.test.ts' },
    'test/ci/new.test.ts does not run "bash .ci/new".',
  ],
  [
    'bash .ci/run nothing',
    { 'bash .ci/run nothing': '.ci/run' },
    '.ci/run does not run "bash .ci/run nothing".',
  ],
  ['npm test -- x', { 'npm test -- x': '.ci/run' }, '.ci/run does not run "npm test -- x".'],
  [
    'npm run fuzz',
    { 'npm run fuzz': 'test/ci/comment.test.ts' },
    'test/ci/comment.test.ts does not run "npm run fuzz".',
  ],
  ['npm ci', { 'npm ci': '.ci/run', 'npm run synth': '.ci/run' }, 'No workflow runs "npm run synth".'],
])('%s with %j is a fault', (command, map, fault) => {
  expect(faultsOf(workflowWith(command), map)).toEqual([fault]);
});
