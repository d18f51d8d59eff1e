import { changeSetOf, changes } from '../cli/deployment/change-sets';
import { accountVariables, withStacks } from '../cli/deployment/deployed';
import type { LocalAccount } from '../cli/preflight/account';
import { result, startAccount } from '../cli/preflight/account';
import { ready } from '../cli/preflight/ready-account';
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
  const type = 'aws:cloudformation:stack';
  const properties = {
    templateFile: 'WalletEu.template.json',
    stackTemplateAssetObjectUrl: 's3://cdk-assets-111122223333-eu-central-1/abc.json',
  };
  workspace.write(`${name}/manifest.json`, JSON.stringify({ artifacts: { WalletEu: { type, properties } } }));
  workspace.write(`${name}/WalletEu.template.json`, JSON.stringify({ Resources }));
  workspace.write(`${name}/asset.1/.hidden`, 'x');
}

describe('plan and apply', () => {
  it('what was planned is applied, and nothing else', async () => {
    account.answer(withStacks(), changeSetOf(changes));
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
    const { exitCode, summary } = await new Workspace(folder()).step(
      'bash .ci/report npm run -s wallet -- preflight --environment "$ENVIRONMENT"',
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
  const takeBack = (workspace: Workspace) => workspace.step('bash .ci/take-back "$STACK"', variables);

  it('deploys the last good assembly, and says so', async () => {
    const workspace = new Workspace(folder());
    for (const name of ['cdk.out', 'last-good']) writeAssembly(workspace, name);
    workspace.stub('npx', cdk);
    const { exitCode, summary } = await takeBack(workspace);
    expect({ exitCode, summary }).toEqual({
      exitCode: 0,
      summary: expect.stringContaining('WalletEu was taken back.'),
    });
    expect(summary).toContain('Migrations stay');
    expect(workspace.read('cdk-calls')).toMatch(/^cdk deploy --app last-good --exclusively .* WalletEu\n$/);
  });

  it('says when there is none, and when it could not be deployed', async () => {
    const workspace = new Workspace(folder());
    workspace.stub('npx', 'exit 1');
    expect(await takeBack(workspace)).toMatchObject({
      exitCode: 1,
      summary: expect.stringContaining('there is no former assembly'),
    });
    for (const name of ['cdk.out', 'last-good']) writeAssembly(workspace, name);
    expect(await takeBack(workspace)).toMatchObject({
      exitCode: 1,
      summary: expect.stringContaining('could not be taken back'),
    });
  });

  it('deploys nothing by which state would be lost', async () => {
    const workspace = new Workspace(folder());
    writeAssembly(workspace, 'cdk.out', {
      Database: { Type: 'AWS::RDS::DBCluster', Properties: { SnapshotIdentifier: 'before' } },
    });
    writeAssembly(workspace, 'last-good', { Database: { Type: 'AWS::RDS::DBCluster', Properties: {} } });
    workspace.stub('npx', cdk);
    const { exitCode, summary } = await takeBack(workspace);
    expect({ exitCode, summary }).toEqual({
      exitCode: 1,
      summary: expect.stringMatching(
        /was not taken back[\s\S]+`Database` .+ SnapshotIdentifier was "before"/,
      ),
    });
    expect(() => workspace.read('cdk-calls')).toThrow('ENOENT');
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
    const { exitCode, summary } = await workspace.step(smokeStep, inAccount());
    expect({ exitCode, summary }).toEqual({
      exitCode: 1,
      summary: expect.stringMatching(/failed .*organization/i),
    });
    expect(summary).not.toContain('is in production');
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

  it('drift fails, with the property in the summary', async () => {
    const difference = {
      PropertyPath: '/VisibilityTimeout',
      ExpectedValue: '270',
      ActualValue: '30',
      DifferenceType: 'NOT_EQUAL',
    };
    account.answer(withStacks(), {
      'cloudformation:DetectStackDrift': () => result({ StackDriftDetectionId: 'x' }),
      'cloudformation:DescribeStackDriftDetectionStatus': () =>
        result({ DetectionStatus: 'DETECTION_COMPLETE' }),
      'cloudformation:DescribeStackResourceDrifts': () =>
        result({
          StackResourceDrifts: [
            {
              LogicalResourceId: 'Queue',
              ResourceType: 'AWS::SQS::Queue',
              StackResourceDriftStatus: 'MODIFIED',
              PropertyDifferences: [difference],
            },
          ],
        }),
    });
    const step = 'bash .ci/report npm run -s wallet -- drift --environment "$ENVIRONMENT"';
    const { exitCode, summary } = await new Workspace(folder()).step(step, inAccount());
    expect({ exitCode, summary }).toEqual({
      exitCode: 1,
      summary: expect.stringContaining('/VisibilityTimeout: expected 270, is 30'),
    });
  });
});
