import { join } from 'node:path';
import { onlyDeployed, refusal, result, useAccount, withoutStacks, withStacks } from '../cli/account';
import { writeAssembly } from '../cli/assembly';
import { useInstantWaits } from '../cli/instant-waits';
import { first } from '../support/rows';
import { useWorkspaces } from './workspace';

useInstantWaits();
const workspace = useWorkspaces();
const account = useAccount();
const variables = { STACK: 'WalletEu', ENVIRONMENT: 'eu' };

it('applies exactly what was planned, and nothing when planning failed', async () => {
  const checkout = workspace();
  checkout.write('cdk.out/asset.1/.hidden', 'x');
  checkout.stub('npm', 'exit 1');
  const plan = () => checkout.step('bash .ci/plan-deployment "$STACK"', variables);
  expect(await plan()).toMatchObject({ exitCode: 1, output: '' });
  checkout.stub('npm', 'echo "## Plan of $7"; echo {} > plan/plan.json');
  const { exitCode, summary, output } = await plan();
  expect({ exitCode, summary }).toEqual({ exitCode: 0, summary: '## Plan of WalletEu\n' });
  const [, planned] = /^digest=([0-9a-f]{64})\n$/.exec(output) ?? [];
  const digest = async (DIGEST = '') =>
    (await checkout.step('bash .ci/digest-plan "$DIGEST"', { DIGEST })).exitCode;
  expect([await digest(planned), await digest()]).toEqual([0, 1]);
  for (const file of ['cdk.out/asset.1/.hidden', 'plan/plan.json']) {
    const text = checkout.read(file);
    checkout.write(file, 'other');
    expect([file, await digest(planned)]).toEqual([file, 1]);
    checkout.write(file, text);
  }
  expect(await digest(planned)).toBe(0);
});

it('a deployment shows what it prints, and exits as its call does', async () => {
  const checkout = workspace();
  checkout.stub('npx', 'echo printed; exit 3');
  const deploy = 'bash .ci/summarize bash .ci/deploy-stack cdk.out "$STACK"';
  const summary = '```\nprinted\n```\n';
  expect(await checkout.step(deploy, variables)).toMatchObject({ exitCode: 3, summary });
});

it('stores the template that a deployment replaces, if any', async () => {
  const checkout = workspace();
  const store = () => checkout.step('node --require tsx/cjs .ci/save-template.ts "$STACK"', variables);
  account().answer(withoutStacks);
  expect(await store()).toMatchObject({ exitCode: 0 });
  expect(() => checkout.read('plan/before.json')).toThrow('ENOENT');
  account().answer(withStacks(), { 'cloudformation:GetTemplate': () => result({ TemplateBody: '{"a":1}' }) });
  expect(await store()).toMatchObject({ exitCode: 0 });
  expect(checkout.read('plan/before.json')).toBe('{"a":1}');
});

describe('after a failed smoke', () => {
  const Resources = { Queue: { Type: 'AWS::SQS::Queue', Properties: {} } };
  const deployed =
    'cdk deploy --app last-good --exclusively --require-approval never --progress events --outputs-file outputs.json WalletEu\n';
  // The script that lists obstacles.
  const noObstacles =
    '[ "$*" = "--require tsx/cjs .ci/list-obstacles.ts cdk.out last-good plan/before.json WalletEu" ]';
  const obstacle = 'echo "- $3: no."; exit 3';
  const refusedOnce = `echo x >> node-calls; [ "$(wc -l < node-calls)" = 2 ] && ${noObstacles}`;

  it.each<[string, number, string, node: string, ofCdk?: number, lastGood?: string]>([
    ['WalletEu was rolled back.', 0, deployed, noObstacles],
    ['WalletEu was rolled back.', 0, deployed, refusedOnce],
    ['The rollback of WalletEu failed.', 1, deployed, noObstacles, 1],
    ['- .ci/list-obstacles.ts: no.', 1, '', obstacle],
    ['could not check three times', 1, '', 'echo ExpiredToken >&2; exit 1'],
    ['was not rolled back:** no earlier assembly', 1, '', noObstacles, 0, ''],
    ['the assembly of run 17 could not be downloaded.', 1, '', noObstacles, 0, '17'],
  ])('%s', async (sentence, exitCode, called, node, ofCdk = 0, LAST_GOOD = undefined) => {
    const checkout = workspace();
    if (LAST_GOOD === undefined) checkout.write('last-good/manifest.json', '');
    checkout.write('cdk-calls', '');
    checkout.stub('npx', `echo "$@" >> cdk-calls; exit ${ofCdk}`);
    checkout.stub('sleep', '');
    checkout.stub('node', node);
    const outcome = await checkout.step('bash .ci/roll-back "$STACK"', { ...variables, LAST_GOOD });
    expect(outcome).toMatchObject({ exitCode, summary: expect.stringContaining(sentence) });
    expect(checkout.read('cdk-calls')).toBe(called);
  });

  it('the obstacles are listed with exit code 3, and a refusal of AWS is none', async () => {
    const checkout = workspace();
    for (const assembly of ['cdk.out', 'last-good'])
      writeAssembly(join(checkout.folder, assembly), { Resources }, [first]);
    account().answer(withStacks({ Parameters: [] }));
    const args = ['cdk.out', 'last-good', 'plan/before.json', 'WalletEu'];
    const list = () => checkout.run('.ci/list-obstacles.ts', args, variables);
    const printed = '- Before this release, the stack did not have the last good template.';
    expect(await list()).toMatchObject({ exitCode: 3, printed });
    checkout.write('plan/before.json', JSON.stringify({ Resources }));
    expect(await list()).toMatchObject({ exitCode: 0, printed: '' });
    account().answer({ 'cloudformation:DescribeStacks': () => refusal('ExpiredToken') });
    expect(await list()).toMatchObject({ exitCode: 1, printed: expect.stringContaining('ExpiredToken') });
  });
});

const difference = { PropertyPath: '/KmsMasterKeyId', ExpectedValue: 'a', ActualValue: 'b' };
const queue = { LogicalResourceId: 'Queue', ResourceType: 'AWS::SQS::Queue' };
const modified = { ...queue, StackResourceDriftStatus: 'MODIFIED', PropertyDifferences: [difference] };
const unknown = { ...queue, StackResourceDriftStatus: 'UNKNOWN', DriftStatusReason: 'Denied' };
const secret = { ...unknown, ResourceType: 'AWS::SecretsManager::Secret' };
const detached = { ...difference, PropertyPath: '/GlobalClusterIdentifier', ActualValue: 'null' };
const cluster = { ...modified, ResourceType: 'AWS::RDS::DBCluster', PropertyDifferences: [detached] };
const harmless = 'WalletEu has no drift.\n\nNobody needs to act on:\n\n- ';
const harmful = 'has drifted:**\n\n- ';

// Its row's cluster began as a replica, unless said otherwise: it was promoted since.
it.each<[number, string, object[], { statuses?: string[]; deployed?: string; began?: object }?]>([
  [0, 'WalletEu has no drift.\n\nSkipped', []],
  [1, `${harmful}Queue (AWS::SQS::Queue) is modified; /KmsMasterKeyId is b`, [modified]],
  [1, `${harmful}Queue`, [modified], { statuses: ['IN_PROGRESS', 'COMPLETE'] }],
  [1, 'The detection failed: Denied.', [], { statuses: ['FAILED'] }],
  [0, '- Queue (AWS::SecretsManager::Secret) is unknown; Denied', [secret]],
  [1, '- Queue (AWS::SQS::Queue) is unknown; Denied', [unknown]],
  // Only the global database that a promoted cluster left.
  [0, `${harmless}Queue (AWS::RDS::DBCluster)`, [cluster]],
  [1, harmful, [{ ...cluster, PropertyDifferences: [detached, difference] }]],
  [1, harmful, [{ ...cluster, PropertyDifferences: [difference] }]],
  [1, harmful, [{ ...cluster, StackResourceDriftStatus: 'DELETED', PropertyDifferences: [] }]],
  [1, harmful, [{ ...cluster, ResourceType: 'AWS::RDS::GlobalCluster' }]],
  [1, harmful, [cluster], { deployed: 'WalletEuStandby' }],
  [1, harmful, [cluster], { began: {} }],
])('detection of drift exits with %d: %s', async (exitCode, text, StackResourceDrifts, options = {}) => {
  const { deployed = variables.STACK, began = { replicaOf: 'wallet-eu' }, statuses = ['COMPLETE'] } = options;
  jest.replaceProperty(first, 'database', { ...first.database, ...began });
  account().answer({
    ...onlyDeployed(deployed),
    'cloudformation:DetectStackDrift': () => result({ StackDriftDetectionId: 'id' }),
    'cloudformation:DescribeStackDriftDetectionStatus': () =>
      result({ DetectionStatus: `DETECTION_${statuses.shift()}`, DetectionStatusReason: 'Denied' }),
    'cloudformation:DescribeStackResourceDrifts': () => result({ StackResourceDrifts }),
  });
  const command = 'node --require tsx/cjs .ci/detect-drift.ts "$ENVIRONMENT"';
  const outcome = await workspace().step(command, variables);
  expect(outcome).toMatchObject({ exitCode, summary: expect.stringContaining(text) });
  expect(outcome.summary).toContain(
    `Skipped ${deployed === variables.STACK ? 'WalletEuStandby' : 'WalletEu'}: `,
  );
});

it.each([
  [0, '# Residency of eu', withStacks()],
  [1, '# Residency of eu', { ...withStacks(), 'tagging:GetResources': () => result({}) }],
  [0, undefined, withoutStacks],
])('exits with %d, and keeps the page "%s"', async (exitCode, heading, replies) => {
  account().answer(replies, { 'sts:GetCallerIdentity': () => result({ Account: '111122223333' }) });
  const checkout = workspace();
  const command = 'node --require tsx/cjs .ci/residency.ts "$ENVIRONMENT"';
  const outcome = await checkout.step(command, variables);
  const page = heading === undefined ? '' : checkout.read('residency.md');
  expect(page.split('\n')[0]).toBe(heading ?? '');
  expect(outcome).toMatchObject({ exitCode, summary: page && `${page}\n\n` });
});

it.each([2, 3])('smoke that fails %d times fails its step only the third time', async (failures) => {
  const exitCode = failures === 3 ? 1 : 0;
  const checkout = workspace();
  checkout.stub('sleep', 'echo "$@" >> pauses');
  const passes = `[ "$(wc -l < runs)" -gt ${failures} ]`;
  checkout.stub('npm', `[ "$5" = smoke ] || exit 0; echo "$@" >> runs; ${passes}`);
  expect(await checkout.step('bash .ci/run-smoke "$ENVIRONMENT"', variables)).toMatchObject({ exitCode });
  const run = `run -s wallet -- smoke --environment ${variables.ENVIRONMENT} --outputs FILE --allow-production\n`;
  expect(checkout.read('runs').replace(/(?<= --outputs )\S+/g, 'FILE')).toBe(run.repeat(3));
  expect(checkout.read('pauses')).toBe('30\n30\n');
});
