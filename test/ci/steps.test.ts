import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
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
import { flagsOf } from '../support/wallet-commands';
import { runCommands, Workspace } from './workspace';

const folder = temporaryFolder();
const workspace = () => new Workspace(mkdtempSync(join(folder(), 'checkout-')));
let account: Account;
beforeAll(async () => {
  account = await startAccount();
});
afterAll(() => account.close());

const variables = { STACK: 'WalletEu', ENVIRONMENT: 'eu', ZONE: '2', RESERVE: '--no-reserve' };
const inAccount = () => ({ ...variables, ...accountVariables(account.url) });

/** Records how `cdk` is called, and writes the outputs. */
const cdk =
  'echo "$@" >> cdk-calls; while [ $# -gt 1 ]; do [ "$1" = --outputs-file ] && echo "{}" > "$2"; shift; done';

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

describe('plan and apply', () => {
  it('applies exactly what was planned', async () => {
    const checkout = workspace();
    writeAssembly(checkout);
    checkout.stub('npm', 'echo "## Plan of $5"; echo {} > plan/plan.json');
    const { exitCode, summary, output } = await checkout.step('bash .ci/plan "$STACK"', variables);
    expect({ exitCode, summary }).toEqual({ exitCode: 0, summary: checkout.read('plan/plan.md') });
    const [, DIGEST] = /^digest=([0-9a-f]{64})\n$/.exec(output) ?? [];
    const digest = (expected = '') => checkout.step('bash .ci/digest "$DIGEST"', { DIGEST: expected });
    expect(await digest(DIGEST)).toMatchObject({ exitCode: 0 });
    expect(await digest()).toMatchObject({ exitCode: 1 });
    checkout.write('cdk.out/asset.1/.hidden', 'y');
    expect(await digest(DIGEST)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('differs from the planned one'),
    });
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

  const deployStep = 'bash .ci/report bash .ci/deploy cdk.out "$STACK"';

  it('deploys the one stack of the assembly, and stores its outputs', async () => {
    const checkout = workspace();
    checkout.stub('npx', cdk);
    expect(await checkout.step(deployStep, variables)).toMatchObject({ exitCode: 0 });
    expect(checkout.read('cdk-calls')).toBe(
      'cdk deploy --app cdk.out --exclusively --require-approval never --progress events --outputs-file outputs.json WalletEu\n',
    );
    expect(checkout.read('outputs.json')).toBe('{}\n');
  });

  it.each([
    [deployStep, 'npx'],
    ['bash .ci/report npm run -s wallet -- preflight --environment "$ENVIRONMENT" --assembly cdk.out', 'npm'],
  ])('%s fails with %s, whose output is in the summary', async (step, tool) => {
    const checkout = workspace();
    checkout.stub(tool, 'echo UPDATE_ROLLBACK_COMPLETE; exit 1');
    const { exitCode, summary } = await checkout.step(step, variables);
    expect({ exitCode, summary }).toEqual({ exitCode: 1, summary: '```\nUPDATE_ROLLBACK_COMPLETE\n```\n' });
  });
});

describe('after a failed smoke', () => {
  const queue = { Queue: { Type: 'AWS::SQS::Queue', Properties: {} } };

  it.each<[string, number, boolean, object | undefined, object, string?]>([
    ['WalletEu was rolled back.', 0, true, queue, queue],
    ['The rollback of WalletEu failed.', 1, false, queue, queue, 'exit 1'],
    ['was not rolled back:** no earlier assembly', 1, false, undefined, queue],
    ['Before this release, the stack did not have the last good template.', 1, false, queue, {}],
  ])('%s', async (sentence, exitCode, deployed, lastGood, before, npx = cdk) => {
    const checkout = workspace();
    writeAssembly(checkout, 'cdk.out', { ...queue, New: { Type: 'AWS::SNS::Topic' } });
    if (lastGood) writeAssembly(checkout, 'last-good', lastGood);
    checkout.write('plan/before.json', JSON.stringify({ Resources: before }));
    checkout.stub('npx', npx);
    // The other rows run obstacles.ts.
    if (npx !== cdk) checkout.stub('node', 'exit 0');
    const { summary, ...outcome } = await checkout.step('bash .ci/roll-back "$STACK"', variables);
    expect(outcome.exitCode).toBe(exitCode);
    expect(summary).toContain(sentence);
    expect(existsSync(join(checkout.folder, 'cdk-calls'))).toBe(deployed);
  });
});

it("truncates a diff to GitHub's limit for comments", async () => {
  const checkout = workspace();
  checkout.write('diff.md', 'x'.repeat(70_000));
  checkout.stub('gh', 'echo "$@" > gh-call; cat > gh-body');
  const step =
    'head --bytes 65000 diff.md | gh pr comment "$PULL_REQUEST" --edit-last --create-if-none --body-file -';
  expect(await checkout.step(step, { PULL_REQUEST: '7' })).toMatchObject({ exitCode: 0 });
  expect(checkout.read('gh-call')).toBe('pr comment 7 --edit-last --create-if-none --body-file -\n');
  expect(checkout.read('gh-body')).toHaveLength(65_000);
});

it('a cancelled run links to the runbook', async () => {
  const { exitCode, summary } = await workspace().step('bash .ci/cancelled "$STACK"', variables);
  expect(exitCode).toBe(0);
  const [, heading] = /"(.+)"/.exec(summary) ?? [];
  expect(readFileSync(join(projectRoot, 'docs/runbook.md'), 'utf8')).toContain(`\n### ${heading}\n`);
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

describe('by hand', () => {
  const smokeStep = 'bash .ci/smoke "$ENVIRONMENT"';

  it.each([
    [2, 0],
    [3, 1],
  ])('smoke that fails %d times exits with %d', async (failures, exitCode) => {
    const checkout = workspace();
    checkout.stub('sleep', 'echo "$@" >> pauses');
    checkout.stub('npm', `[ "$5" = smoke ] || exit 0; echo >> runs; [ "$(wc -l < runs)" -gt ${failures} ]`);
    expect(await checkout.step(smokeStep, variables)).toMatchObject({ exitCode });
    expect(checkout.read('runs')).toHaveLength(3);
    expect(checkout.read('pauses')).toBe('30\n30\n');
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
    [smokeStep, 'https://example.com/', 'smoke', ' --allow-production --receiver-url https://example.com/'],
  ])('%s, with "%s" as the receiver, runs %s%s', async (step, receiver, command, options) => {
    const checkout = workspace();
    checkout.stub('npm', 'echo "$@" >> npm-calls');
    const more = { ...variables, SMOKE_RECEIVER_URL: receiver };
    expect(await checkout.step(step, more)).toMatchObject({ exitCode: 0 });
    const [outputs, operation = ''] = checkout.read('npm-calls').trim().split('\n');
    expect(outputs).toBe(`run -s wallet -- outputs --environment ${variables.ENVIRONMENT}`);
    expect(operation.replace(/(?<= --outputs )\S+/, 'FILE')).toBe(
      `run -s wallet -- ${command} --environment ${variables.ENVIRONMENT} --outputs FILE${options}`,
    );
    expect(flagsOf(command)).toEqual(expect.arrayContaining(options.match(/--[\w-]+/g) ?? []));
  });
});

it.each(runCommands.filter((command) => command.includes('wallet -- ')))(
  '%s has known options',
  (command) => {
    // Such as "npm run -s wallet -- plan".
    const [, name = ''] = /wallet -- ([\w-]+)/.exec(command) ?? [];
    const flags = command.split(` ${name} `)[1]?.match(/--[\w-]+/g) ?? [];
    expect(flags).not.toEqual([]);
    expect(flagsOf(name)).toEqual(expect.arrayContaining(flags));
  },
);
