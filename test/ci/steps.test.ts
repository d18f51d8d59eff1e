import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Account,
  accountVariables,
  type Replies,
  result,
  startAccount,
  withoutStacks,
  withStacks,
} from '../cli/account';
import { temporaryFolder } from '../support/temporary-folder';
import { Workspace } from './workspace';

const folder = temporaryFolder();
const workspace = () => new Workspace(mkdtempSync(join(folder(), 'checkout-')));
let account: Account;
beforeAll(async () => {
  account = await startAccount();
});
afterAll(() => account.close());

const variables = { STACK: 'WalletEu', ENVIRONMENT: 'eu' };
const inAccount = () => ({ ...variables, ...accountVariables(account.url) });

/** An assembly of one stack, in the shape that the CDK writes. */
function writeAssembly(to: Workspace, name = 'cdk.out', Resources: object = {}): void {
  const artifact = {
    type: 'aws:cloudformation:stack',
    environment: 'aws://unknown-account/eu-central-1',
    properties: { templateFile: 'WalletEu.template.json' },
  };
  to.write(`${name}/manifest.json`, JSON.stringify({ version: '36.0.0', artifacts: { WalletEu: artifact } }));
  to.write(`${name}/WalletEu.template.json`, JSON.stringify({ Resources }));
  to.write(`${name}/asset.1/.hidden`, 'x');
}

it('applies exactly what was planned', async () => {
  const checkout = workspace();
  writeAssembly(checkout);
  checkout.stub('npm', 'echo "## Plan of $5"; echo {} > plan/plan.json');
  const { exitCode, summary, output } = await checkout.step('bash .ci/plan "$STACK"', variables);
  expect({ exitCode, summary }).toEqual({ exitCode: 0, summary: checkout.read('plan/plan.md') });
  const [, planned] = /^digest=([0-9a-f]{64})\n$/.exec(output) ?? [];
  const digest = async (DIGEST = '') =>
    (await checkout.step('bash .ci/digest "$DIGEST"', { DIGEST })).exitCode;
  expect([await digest(planned), await digest()]).toEqual([0, 1]);
  checkout.write('cdk.out/asset.1/.hidden', 'y');
  expect(await digest(planned)).toBe(1);
});

it('a plan that fails leaves no digest to apply', async () => {
  const checkout = workspace();
  checkout.stub('npm', 'exit 1');
  const planned = await checkout.step('bash .ci/plan "$STACK"', variables);
  expect(planned).toMatchObject({ exitCode: 1, output: '' });
});

it('stores the template that a deployment replaces, if any', async () => {
  const store = (checkout: Workspace) =>
    checkout.step('node --require tsx/cjs .ci/before.ts "$STACK"', inAccount());
  const checkout = workspace();
  account.answer(withoutStacks);
  expect(await store(checkout)).toMatchObject({ exitCode: 0 });
  expect(() => checkout.read('plan/before.json')).toThrow('ENOENT');
  account.answer(withStacks(), { 'cloudformation:GetTemplate': () => result({ TemplateBody: '{"a":1}' }) });
  expect(await store(checkout)).toMatchObject({ exitCode: 0 });
  expect(checkout.read('plan/before.json')).toBe('{"a":1}');
});

it('a deployment that fails has its output in the summary', async () => {
  const checkout = workspace();
  checkout.stub('npx', 'echo UPDATE_ROLLBACK_COMPLETE; exit 1');
  const deploy = 'bash .ci/report bash .ci/deploy cdk.out "$STACK"';
  const { exitCode, summary } = await checkout.step(deploy, variables);
  expect({ exitCode, summary }).toEqual({ exitCode: 1, summary: '```\nUPDATE_ROLLBACK_COMPLETE\n```\n' });
});

describe('after a failed smoke', () => {
  const queue = { Queue: { Type: 'AWS::SQS::Queue', Properties: {} } };
  const called =
    'cdk deploy --app last-good --exclusively --require-approval never --progress events --outputs-file outputs.json WalletEu\n';

  it.each<[string, number, object | undefined, object, number?]>([
    ['WalletEu was rolled back.', 0, queue, queue],
    ['The rollback of WalletEu failed.', 1, queue, queue, 1],
    ['was not rolled back:** no earlier assembly', 1, undefined, queue],
    ['Before this release, the stack did not have the last good template.', 1, queue, {}],
  ])('%s', async (sentence, exitCode, lastGood, before, ofCdk = 0) => {
    const checkout = workspace();
    writeAssembly(checkout, 'cdk.out', { ...queue, New: { Type: 'AWS::SNS::Topic' } });
    if (lastGood) writeAssembly(checkout, 'last-good', lastGood);
    checkout.write('plan/before.json', JSON.stringify({ Resources: before }));
    checkout.stub('npx', `echo "$@" >> cdk-calls; exit ${ofCdk}`);
    const outcome = await checkout.step('bash .ci/roll-back "$STACK"', variables);
    expect(outcome).toMatchObject({ exitCode, summary: expect.stringContaining(sentence) });
    const isDeployed = lastGood === before;
    expect(existsSync(join(checkout.folder, 'cdk-calls'))).toBe(isDeployed);
    if (isDeployed) expect(checkout.read('cdk-calls')).toBe(called);
  });
});

it("drift compares the deployed stacks, and fails with the CDK's findings", async () => {
  const drift = async (replies: Replies) => {
    account.answer(replies);
    const checkout = workspace();
    checkout.stub('npx', 'echo "$@"; exit 1');
    return checkout.step('bash .ci/drift "$ENVIRONMENT"', inAccount());
  };
  const { exitCode, summary } = await drift({
    'cloudformation:DescribeStacks': (call) => {
      const replies = call.input.StackName === variables.STACK ? withStacks() : withoutStacks;
      return replies['cloudformation:DescribeStacks']?.(call) ?? result({});
    },
  });
  expect(exitCode).toBe(1);
  expect(summary).toContain('\ncdk drift --app cdk.out --fail WalletEu\n');
  expect(summary).toContain('Skipped WalletEuStandby: it is not deployed.');
  expect(await drift(withoutStacks)).toMatchObject({ exitCode: 0 });
});

it.each([
  [2, 0, '', '--without-webhook'],
  [3, 1, 'https://example.com/', '--receiver-url https://example.com/'],
])(
  'smoke that fails %d times exits with %d, with receiver "%s"',
  async (failures, exitCode, receiver, option) => {
    const checkout = workspace();
    checkout.stub('sleep', 'echo "$@" >> pauses');
    checkout.stub(
      'npm',
      `[ "$5" = smoke ] || exit 0; echo "$@" >> runs; [ "$(wc -l < runs)" -gt ${failures} ]`,
    );
    const step = 'bash .ci/smoke "$ENVIRONMENT"';
    expect(await checkout.step(step, { ...variables, SMOKE_RECEIVER_URL: receiver })).toMatchObject({
      exitCode,
    });
    const run = `run -s wallet -- smoke --environment ${variables.ENVIRONMENT} --outputs FILE --allow-production ${option}\n`;
    expect(checkout.read('runs').replace(/(?<= --outputs )\S+/g, 'FILE')).toBe(run.repeat(3));
    expect(checkout.read('pauses')).toBe('30\n30\n');
  },
);
