import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from '../../lib/app';
import { projectRoot } from '../architecture/sources';
import { changeSetOf, withoutStacks, withStacks } from '../cli/deployed-stacks';
import {
  accountVariables,
  type LocalAccount,
  type Replies,
  result,
  startAccount,
} from '../cli/local-account';
import { ready } from '../cli/ready-account';
import { withoutSla } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { flagsOf } from '../support/wallet-commands';
import { Workspace } from './workspace';

// Each step starts npm and Node.js, some of them twice.
jest.setTimeout(120_000);

const folder = temporaryFolder();
let account: LocalAccount;
beforeAll(async () => {
  account = await startAccount();
});
afterAll(() => account.close());

const variables = { STACK: 'WalletEu', ENVIRONMENT: 'eu', ZONE: '2', RESERVE: '--no-reserve' };
const inAccount = () => ({ ...variables, ...accountVariables(account.url) });

/** Records how `cdk` is called, and does as it would with the outputs. */
const cdk =
  'echo "$@" >> cdk-calls; while [ $# -gt 1 ]; do [ "$1" = --outputs-file ] && echo "{}" > "$2"; shift; done';

/** An assembly of one stack, in the shape that the CDK writes. */
function writeAssembly(workspace: Workspace, name = 'cdk.out', Resources: object = {}): void {
  const artifact = {
    type: 'aws:cloudformation:stack',
    environment: 'aws://unknown-account/eu-central-1',
    properties: {
      templateFile: 'WalletEu.template.json',
      stackTemplateAssetObjectUrl: 's3://cdk-assets-111122223333-eu-central-1/abc.json',
    },
  };
  workspace.write(
    `${name}/manifest.json`,
    JSON.stringify({ version: '36.0.0', artifacts: { WalletEu: artifact } }),
  );
  workspace.write(`${name}/WalletEu.template.json`, JSON.stringify({ Resources }));
  workspace.write(`${name}/asset.1/.hidden`, 'x');
}

describe('plan and apply', () => {
  it('what was planned is applied, and nothing else', async () => {
    account.answer(withStacks(), changeSetOf([]));
    const workspace = new Workspace(folder());
    writeAssembly(workspace);
    const planned = await workspace.step('bash .ci/plan "$STACK"', inAccount());
    expect(planned).toMatchObject({ exitCode: 0, summary: expect.stringContaining('## Plan of WalletEu') });
    expect(planned.summary).toBe(workspace.read('plan/plan.md'));
    const [, DIGEST] = /^digest=([0-9a-f]{64})\n$/.exec(planned.output) ?? [];
    expect(DIGEST).toBeDefined();

    const digest = (variables: object) => workspace.step('bash .ci/digest "$DIGEST"', { ...variables });
    const verify = 'npm run -s wallet -- plan --stack "$STACK" --verify plan/plan.json';
    expect(await digest({ DIGEST })).toMatchObject({ exitCode: 0 });
    expect(await workspace.step(verify, inAccount())).toMatchObject({ exitCode: 0 });

    expect(await digest({ DIGEST: '' })).toMatchObject({ exitCode: 1 });
    workspace.write('cdk.out/asset.1/.hidden', 'y');
    expect(await digest({ DIGEST })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('not the assembly that was planned'),
    });
  });

  it('the template that a deployment replaces is kept, if there is one', async () => {
    const keep = (workspace: Workspace) =>
      workspace.step('node --import tsx .ci/before.ts "$STACK"', inAccount());
    const workspace = new Workspace(folder());
    account.answer(withoutStacks);
    expect(await keep(workspace)).toMatchObject({ exitCode: 0 });
    expect(() => workspace.read('plan/before.json')).toThrow('ENOENT');
    account.answer(withStacks(), { 'cloudformation:GetTemplate': () => result({ TemplateBody: '{"a":1}' }) });
    expect(await keep(workspace)).toMatchObject({ exitCode: 0 });
    expect(workspace.read('plan/before.json')).toBe('{"a":1}');
  });

  it('a plan that fails leaves no digest to apply', async () => {
    const workspace = new Workspace(folder());
    workspace.stub('npm', 'exit 1');
    expect(await workspace.step('bash .ci/plan "$STACK"', variables)).toMatchObject({
      exitCode: 1,
      output: '',
    });
  });

  it('preflight asks with the credentials of the job, and shows what it finds', async () => {
    account.answer(ready);
    const workspace = new Workspace(folder());
    const outdir = join(workspace.folder, 'cdk.out');
    createApp({ outdir, environments: [withoutSla], validateTemplates: false }).synth();
    const { exitCode, summary } = await workspace.step(
      'bash .ci/report npm run -s wallet -- preflight --environment "$ENVIRONMENT" --assembly cdk.out',
      { ...inAccount(), ENVIRONMENT: withoutSla.name },
    );
    expect({ exitCode, summary }).toEqual({
      exitCode: 0,
      summary: expect.stringMatching(/^```\n[\s\S]*: \d+ ok, 0 warnings, 0 failed[\s\S]*\n```\n$/),
    });
  });

  const deployStep = 'bash .ci/report bash .ci/deploy cdk.out "$STACK"';

  it('deploys the one stack of the very assembly, and keeps its outputs', async () => {
    const workspace = new Workspace(folder());
    workspace.stub('npx', cdk);
    expect(await workspace.step(deployStep, variables)).toMatchObject({ exitCode: 0 });
    expect(workspace.read('cdk-calls')).toBe(
      'cdk deploy --app cdk.out --exclusively --require-approval never --progress events --outputs-file outputs.json WalletEu\n',
    );
    expect(workspace.read('outputs.json')).toBe('{}\n');
  });

  it('fails when the deployment does, with what it said in the summary', async () => {
    const workspace = new Workspace(folder());
    workspace.stub('npx', 'echo UPDATE_ROLLBACK_COMPLETE; exit 1');
    const { exitCode, summary } = await workspace.step(deployStep, variables);
    expect({ exitCode, summary }).toEqual({ exitCode: 1, summary: '```\nUPDATE_ROLLBACK_COMPLETE\n```\n' });
  });
});

describe('take back', () => {
  const queue = { Queue: { Type: 'AWS::SQS::Queue', Properties: {} } };

  /** After a smoke that failed on a release which replaced `before`. */
  async function takeBack(lastGood: object | undefined, before: object, cdkCommand = cdk) {
    const workspace = new Workspace(folder());
    writeAssembly(workspace, 'cdk.out', { ...queue, New: { Type: 'AWS::SNS::Topic' } });
    if (lastGood) writeAssembly(workspace, 'last-good', lastGood);
    workspace.write('plan/before.json', JSON.stringify({ Resources: before }));
    workspace.stub('npx', cdkCommand);
    const { exitCode, summary } = await workspace.step('bash .ci/take-back "$STACK"', variables);
    return { exitCode, summary, deployed: existsSync(join(workspace.folder, 'cdk-calls')) };
  }

  it.each<[string, number, boolean, Parameters<typeof takeBack>]>([
    ['WalletEu was taken back.', 0, true, [queue, queue]],
    ['WalletEu could not be taken back.', 1, false, [queue, queue, 'exit 1']],
    ['was not taken back:** there is no former assembly', 1, false, [undefined, queue]],
    ['Something else ran before this release.', 1, false, [queue, {}]],
  ])('%s', async (said, exitCode, deployed, args) => {
    expect(await takeBack(...args)).toEqual({ exitCode, deployed, summary: expect.stringContaining(said) });
  });
});

it('a diff becomes a comment, without what GitHub would refuse', async () => {
  const workspace = new Workspace(folder());
  workspace.write('diff.md', 'x'.repeat(70_000));
  workspace.stub('gh', 'echo "$@" > gh-call; cat > gh-body');
  const step =
    'head --bytes 65000 diff.md | gh pr comment "$PULL_REQUEST" --edit-last --create-if-none --body-file -';
  expect(await workspace.step(step, { PULL_REQUEST: '7' })).toMatchObject({ exitCode: 0 });
  expect(workspace.read('gh-call')).toBe('pr comment 7 --edit-last --create-if-none --body-file -\n');
  expect(workspace.read('gh-body')).toHaveLength(65_000);
});

it('a cancelled run says what goes on, and where to read more', async () => {
  const { exitCode, summary } = await new Workspace(folder()).step('bash .ci/cancelled "$STACK"', variables);
  expect(exitCode).toBe(0);
  expect(summary).toContain('CloudFormation goes on with the update of WalletEu');
  const [, heading] = /"(.+)"/.exec(summary) ?? [];
  expect(readFileSync(join(projectRoot, 'docs/runbook.md'), 'utf8')).toContain(`\n### ${heading}\n`);
});

describe('drift', () => {
  const drift = async (...replies: readonly Replies[]) => {
    account.answer(...replies);
    const workspace = new Workspace(mkdtempSync(join(folder(), 'checkout-')));
    writeAssembly(workspace);
    return workspace.step('bash .ci/drift "$ENVIRONMENT"', inAccount());
  };
  const onlyServing: Replies = {
    'cloudformation:DescribeStacks': (call) => {
      const replies = call.input.StackName === variables.STACK ? withStacks() : withoutStacks;
      return replies['cloudformation:DescribeStacks']?.(call) ?? 'silence';
    },
    'sts:*': () => result({ Account: '111122223333', Arn: 'arn:aws:sts::111122223333:x', UserId: 'x' }),
    'cloudformation:DetectStackDrift': () => result({ StackDriftDetectionId: 'x' }),
    'cloudformation:DescribeStackDriftDetectionStatus': () =>
      result({ DetectionStatus: 'DETECTION_COMPLETE' }),
  };
  const withDrifts = (...StackResourceDrifts: object[]): Replies => ({
    'cloudformation:DescribeStackResourceDrifts': () => result({ StackResourceDrifts }),
  });
  const queue = { LogicalResourceId: 'Queue', ResourceType: 'AWS::SQS::Queue' };

  it('fails, with the property in the summary and what was skipped', async () => {
    const PropertyDifferences = [
      {
        PropertyPath: '/VisibilityTimeout',
        ExpectedValue: '270',
        ActualValue: '30',
        DifferenceType: 'NOT_EQUAL',
      },
    ];
    const { exitCode, summary } = await drift(
      onlyServing,
      withDrifts({ ...queue, StackResourceDriftStatus: 'MODIFIED', PropertyDifferences }),
    );
    expect({ exitCode, summary }).toEqual({
      exitCode: 1,
      summary: expect.stringMatching(/VisibilityTimeout[\s\S]+270[\s\S]+30/),
    });
    expect(summary).toContain('Skipped WalletEuStandby: it is not deployed.');
  });

  it('passes when nothing was changed, or nothing is deployed', async () => {
    expect(
      await drift(onlyServing, withDrifts({ ...queue, StackResourceDriftStatus: 'IN_SYNC' })),
    ).toMatchObject({ exitCode: 0 });
    expect(await drift(withoutStacks)).toMatchObject({
      exitCode: 0,
      summary: expect.stringContaining('Skipped WalletEu: it is not deployed.'),
    });
  });
});

describe('by hand', () => {
  const smokeStep = 'bash .ci/smoke "$ENVIRONMENT"';

  it('smoke runs in production too, and fails when one of its steps does', async () => {
    account.answer(
      withStacks(undefined, {
        Outputs: ['ApiBaseUrl', 'OperationsFunctionName', 'TokenSigningKeyArn', 'WebhookOriginAddress'].map(
          (key) => ({
            OutputKey: key,
            OutputValue: key === 'ApiBaseUrl' ? account.url : key,
          }),
        ),
      }),
    );
    const workspace = new Workspace(folder());
    // Once is enough.
    workspace.stub('sleep', 'exit 1');
    const { exitCode, summary } = await workspace.step(smokeStep, inAccount());
    expect({ exitCode, summary }).toEqual({
      exitCode: 1,
      summary: expect.stringMatching(/failed .*organization/i),
    });
    expect(summary).not.toContain('is in production');
  });

  it.each([
    [2, 0],
    [3, 1],
  ])('smoke that fails %d times exits with %d', async (failures, status) => {
    const workspace = new Workspace(folder());
    workspace.stub('sleep', 'echo "$@" >> pauses');
    workspace.stub('npm', `[ "$5" = smoke ] || exit 0; echo >> runs; [ "$(wc -l < runs)" -gt ${failures} ]`);
    expect(await workspace.step(smokeStep, variables)).toMatchObject({ exitCode: status });
    expect(workspace.read('runs')).toHaveLength(3);
    expect(workspace.read('pauses')).toBe('30\n30\n');
  });

  it.each([
    ['bash .ci/operate "$ENVIRONMENT" origin-status', '', 'origin-status', ''],
    [
      'bash .ci/operate "$ENVIRONMENT" move-origin --zone "$ZONE" "$RESERVE" --dry-run',
      '',
      'move-origin',
      ' --zone 2 --no-reserve --dry-run',
    ],
    [smokeStep, '', 'smoke', ' --allow-production --without-webhook'],
    [
      smokeStep,
      'https://receiver.example/',
      'smoke',
      ' --allow-production --receiver-url https://receiver.example/',
    ],
  ])('%s, with "%s" as the receiver, runs %s%s', async (step, receiver, command, options) => {
    const workspace = new Workspace(folder());
    workspace.stub('sleep', '');
    workspace.stub('npm', 'echo "$@" >> npm-calls; [ "$5" = outputs ] || exit 1');
    const more = { ...variables, SMOKE_RECEIVER_URL: receiver };
    expect(await workspace.step(step, more)).toMatchObject({ exitCode: 1 });
    const [outputs, operation = ''] = workspace.read('npm-calls').trim().split('\n');
    const environment = `--environment ${variables.ENVIRONMENT}`;
    expect(outputs).toBe(`run -s wallet -- outputs ${environment}`);
    expect(operation.replace(/(?<= --outputs )\S+/, 'FILE')).toBe(
      `run -s wallet -- ${command} ${environment} --outputs FILE${options}`,
    );
    const flags = operation.split(' ').filter((word) => /^--./.test(word));
    expect(flagsOf(command)).toEqual(expect.arrayContaining(flags));
  });
});
