import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commands } from '../ci/workspace';
import { temporaryFolder } from '../support/temporary-folder';

jest.setTimeout(120_000);

const folder = temporaryFolder();
const project = resolve(__dirname, '../..');
const modules = join(project, 'node_modules');
const repository = () => join(folder(), 'repository');
const temporary = () => join(folder(), 'tmp');

const git = (...args: string[]) =>
  start('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args]);

/** The app: a queue, which is replaced when its name changes. */
const app = (queueName: string) => `
  const { App, Stack, RemovalPolicy, aws_sqs } = require('${modules}/aws-cdk-lib');
  const app = new App();
  const stack = new Stack(app, 'Wallet');
  new aws_sqs.Queue(stack, 'Events', { queueName: '${queueName}', removalPolicy: RemovalPolicy.RETAIN });
`;

// A repository whose only package is the CDK's command line, which installs without a network.
beforeEach(async () => {
  const files = {
    'package.json': {
      scripts: { diff: `bash ${project}/.ci/show-diff` },
      devDependencies: { 'aws-cdk': 'file:cdk' },
    },
    'cdk/package.json': { name: 'aws-cdk', version: '1.0.0', bin: { cdk: 'cdk.js' } },
    'cdk/cdk.js': `#!/usr/bin/env node\nrequire('${modules}/aws-cdk/bin/cdk');`,
    'cdk.json': { app: 'node app.js', notices: false, context: { 'cli-telemetry': false } },
    'app.js': app('before'),
    '.gitignore': 'node_modules\ncdk.out\n',
  };
  for (const path of [join(repository(), 'cdk'), temporary()]) mkdirSync(path, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(repository(), name), text);
  }
  await start('npm', ['install', '--offline']);
  await git('init', '--initial-branch', 'main');
  await git('add', '.');
  await git('commit', '--message', 'Before');
});

it('the command in check.yml shows the diff to the first parent of the merge', async () => {
  await git('checkout', '-b', 'change');
  writeFileSync(join(repository(), 'app.js'), app('after'));
  await git('commit', '--all', '--message', 'After');
  await git('checkout', 'main');
  await git('merge', '--no-ff', 'change');

  const command = commands.find((each) => each.startsWith('npm run -s diff')) ?? '';
  const summary = join(folder(), 'summary');
  const { exitCode, output } = await start('bash', ['-eo', 'pipefail', '-c', command], {
    GITHUB_STEP_SUMMARY: summary,
  });
  expect(`${exitCode} ${output}`).toMatch(/^0 Installing the packages of [0-9a-f]{12}…\n/);
  const report = readFileSync(join(repository(), 'diff.md'), 'utf8');
  expect(report).toMatch(/would be replaced: QueueName was "before" and is "after"\. Messages that wait/);
  expect(readFileSync(summary, 'utf8')).toBe(report);
  expect(readdirSync(temporary()).filter((name) => name.startsWith('wallet-diff-'))).toEqual([]);
});

/** Runs in the repository, with a folder of its own for temporary files. */
async function start(command: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}) {
  const env = { ...process.env, TMPDIR: temporary(), ...variables };
  const child = spawn(command, args, { cwd: repository(), env });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const [exitCode] = await once(child, 'close');
  return { exitCode, output: Buffer.concat(chunks).toString() };
}
