import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { statefulTypes } from '../../../cli/deployments/stateful-types';
import { first } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { runWallet } from '../../support/wallet-command';
import { notGranted, type Replies, refusal, result, useAccount, withoutStacks, withStacks } from '../account';
import { writeAssembly } from '../assembly';
import { useInstantWaits } from '../instant-waits';
import { wallet } from '../region';

useInstantWaits();
const account = useAccount();
const folder = temporaryFolder();
const stack = { stackId: 'WalletEu', region: 'eu-central-1' };
beforeEach(() => {
  const template = {
    Parameters: { WebhookOriginZone: { Type: 'String' }, New: { Type: 'String', Default: 'x' } },
    Resources: { Key: { Type: 'AWS::KMS::Key' }, Role: { Type: 'AWS::IAM::Role' } },
  };
  writeAssembly(folder(), template, [stack]);
});
afterEach(() => expect(notGranted('read', account().calls)).toEqual([]));

const plan = (...args: string[]) => wallet('plan', '--stack', 'WalletEu', '--assembly', folder(), ...args);
const called = () => account().calls.map(({ service, action }) => `${service}:${action}`);
const Parameters = [{ ParameterKey: 'WebhookOriginZone' }, { ParameterKey: 'Gone' }];
const migration = (Migrations: object) => ({
  Migration: { Type: 'Custom::SchemaMigration', Metadata: { Migrations } },
});
const withTemplate = (Resources: object = {}): Replies => ({
  ...withStacks({ Parameters, EnableTerminationProtection: true }),
  'cloudformation:GetTemplate': () => result({ TemplateBody: JSON.stringify({ Resources }) }),
});
const deployed = withTemplate();

type Change = [id: string, type: string, action: string, effect: string, harms: boolean, more?: object];
/** Each kind of change, to resources with and without state: its effect, and whether it causes a warning. */
const changes: readonly Change[] = [
  ['Function', 'AWS::Lambda::Function', 'Add', 'added', false],
  ['Handler', 'AWS::Lambda::Function', 'Modify', 'changed', false, { Replacement: 'False' }],
  ['Vpc', 'AWS::EC2::VPC', 'Modify', 'replaced', false, { Replacement: 'True' }],
  ['Cluster', 'AWS::RDS::DBCluster', 'Modify', 'replaced', true, { Replacement: 'True' }],
  ['Queue', 'AWS::SQS::Queue', 'Modify', 'may be replaced', true, { Replacement: 'Conditional' }],
  ['OldKey', 'AWS::KMS::Key', 'Remove', 'retained', true, { PolicyAction: 'Retain' }],
  ['Secret', 'AWS::SecretsManager::Secret', 'Remove', 'deleted', true, { PolicyAction: 'Delete' }],
  ['Alarm', 'AWS::CloudWatch::Alarm', 'Remove', 'deleted', false, { PolicyAction: 'Delete' }],
  ['Eip', 'AWS::EC2::EIP', 'Dynamic', 'unknown', true],
];
const Target = { Path: '/Name', BeforeValue: '28', AfterValue: '2<8|', RequiresRecreation: 'Always' };

/** CloudFormation is busy at first, then returns the changes, a page each, or this response; S3 accepts the template. */
function changeSet(status: object = {}): Replies {
  const statuses = ['CREATE_PENDING'];
  return {
    's3:*': () => ({}),
    'cloudformation:CreateChangeSet': () => result({}),
    'cloudformation:DeleteChangeSet': () => result({}),
    'cloudformation:DescribeChangeSet': ({ input }) => {
      const Status = statuses.pop();
      if (Status) return result({ Status });
      const page = Number(input.NextToken ?? 0);
      const [LogicalResourceId, ResourceType, Action, , , more] = changes[page] ?? [];
      const Details = [{ Target, CausingEntity: 'X.Arn' }];
      const ResourceChange = { LogicalResourceId, ResourceType, Action, Details, ...more };
      const NextToken = page + 1 < changes.length ? String(page + 1) : undefined;
      return result({ Status: 'CREATE_COMPLETE', Changes: [{ ResourceChange }], NextToken, ...status });
    },
  };
}

it('creates a change set, reads all pages, and prints losses first, with template values escaped', async () => {
  account().answer(deployed, changeSet());
  const file = join(folder(), 'plan.json');
  const { exitCode, stdout } = await plan('--write', file);
  const { changes: planned, warnings, ...facts } = JSON.parse(readFileSync(file, 'utf8'));
  const base = { id: expect.stringContaining(':stack/WalletEu/'), changed: '2026-11-20T12:00:00.000Z' };
  expect({ exitCode, ...facts }).toEqual({ exitCode: 0, stack: 'WalletEu', region: 'eu-central-1', base });
  expect(planned).toMatchObject(changes.map(([logicalId, type, , effect]) => ({ logicalId, type, effect })));
  const harmed = changes.filter(([, , , , harms]) => harms);
  expect(warnings).toEqual(
    harmed.map(([id, type]) => {
      const remedy = statefulTypes[type]?.slice(0, 9);
      return expect.stringMatching(`^\`${id}\` \\(${type}\\) (would|may) be .+\\. ${remedy}`);
    }),
  );
  expect(stdout.match(/\[!CAUTION\]/g)).toHaveLength(harmed.length);
  expect(stdout.lastIndexOf('[!CAUTION]')).toBeLessThan(stdout.indexOf('| Effect |'));
  expect(stdout).toContain('2 deleted, 2 replaced, 1 retained, 1 may be replaced, 1 unknown, 1 changed,');
  const details = '/Name: 28 → 2&lt;8\\|, by X.Arn, which replaces it';
  expect(stdout).toContain(`| changed | \`Handler\` | AWS::Lambda::Function | ${details} |`);

  const [, put, create, ...others] = account().calls.filter(({ action }) => action !== 'GetTemplate');
  const bucket = 'cdk-hnb659fds-assets-111122223333-eu-central-1';
  const [, name, id] = /\/wallet-plan\/((wallet-plan-[\w-]+)\.json)/.exec(put?.action ?? '') ?? [];
  expect(put?.action).toMatch(`PUT /${bucket}/wallet-plan/${name}`);
  for (const call of [put, others.at(-1)]) expect(call?.input.bucketOwner).toBe('111122223333');
  expect(create?.input).toMatchObject({
    StackName: 'WalletEu',
    ChangeSetName: id,
    TemplateURL: `https://${bucket}.s3.eu-central-1.amazonaws.com/wallet-plan/${name}`,
    Parameters: [{ ParameterKey: 'WebhookOriginZone', UsePreviousValue: 'true' }],
    Tags: [{ Key: 'environment', Value: 'eu' }],
  });
  expect(create?.input.RoleARN).toBeUndefined();
  expect(others.at(-2)).toMatchObject({ action: 'DeleteChangeSet', input: { ChangeSetName: id } });
  expect(others.at(-1)?.action).toMatch(`DELETE /${bucket}/wallet-plan/${name}`);

  // A terminal renders no Markdown.
  const words = ['plan', '--stack', 'WalletEu', '--assembly', folder()];
  const inTerminal = await runWallet(words, { columns: 80 });
  expect(inTerminal.stdout).toContain('/Name: 28 → 2<8|, by X.Arn');
  expect(inTerminal.stdout).not.toMatch(/&\w+;|<br>/);
});

// test/ci/stacks.test.ts has what the templates say.
it('warns of what only the templates say', async () => {
  const Resources = migration(['0001-a']);
  const ResidencyAcknowledgements = { Handler: { 'unreviewed[Type]': 'SEC-1: our layer' } };
  const template = { Metadata: { ResidencyAcknowledgements }, Resources };
  writeAssembly(folder(), template, [stack], 'unknown-account', false);
  account().answer(withTemplate(migration(['0001-a', '0002-b'])), changeSet());
  const { warnings } = JSON.parse((await plan('--json')).stdout);
  for (const part of [
    'would lose its termination protection',
    'This release does not know migration `0002-b`',
    '`Handler` acknowledges the residency rule `unreviewed[Type]`: SEC-1: our layer.',
  ])
    expect(warnings).toContainEqual(expect.stringContaining(part));
  expect(warnings.join()).not.toContain('0001-a');
});

const denied = { 'cloudformation:CreateChangeSet': () => refusal('AccessDenied') };
const failing = (StatusReason: string) => changeSet({ Status: 'FAILED', StatusReason });
// CloudFormation's two sentences.
const noChanges = "The submitted information didn't contain changes.";
const noUpdates = 'No updates are to be performed.';
it.each<[string, Replies, exitCode: number, said: string, last: string]>([
  ['nothing changes', failing(noChanges), 0, 'No changes.', 'Delete'],
  ['nothing is updated', failing(noUpdates), 0, 'No changes.', 'Delete'],
  ['the template is wrong', failing('X.'), 1, 'set: X.\n', 'Delete'],
  ['AWS denies it', { ...changeSet(), ...denied }, 1, 'CreateChangeSet.', 'Create'],
])('leaves nothing behind when %s', async (_, replies, exitCode, said, last) => {
  account().answer(deployed, replies);
  const printed = await plan();
  expect(printed.exitCode).toBe(exitCode);
  expect(printed.stdout + printed.stderr).toContain(said);
  const remove = expect.stringMatching(/^s3:DELETE /);
  const changing = called().filter((call) => call !== 'cloudformation:GetTemplate');
  expect(changing.slice(-2)).toEqual([`cloudformation:${last}ChangeSet`, remove]);
});

it('plans a new stack from its template, without a change set', async () => {
  writeAssembly(folder(), { Resources: { Key: {} } }, [stack]);
  account().answer(withoutStacks);
  const { exitCode, stdout } = await plan();
  expect(exitCode).toBe(0);
  expect(stdout).toContain('The stack is new.\n\n1 added.');
  expect(account().calls).toMatchObject([{ action: 'DescribeStacks', region: first.region }]);
});

const later = withStacks({ LastUpdatedTime: '2026-11-21T08:00:00.000Z' });
it.each<[string, planned: Replies, now: Replies, exitCode: number, said: string]>([
  ['unchanged', deployed, deployed, 0, 'WalletEu has not changed since the plan.'],
  ['changed since', deployed, later, 1, ', last changed at 2026-11-21T08:00:00.000Z.\nPlan again'],
  ['deleted', deployed, withoutStacks, 1, 'and is now not deployed.'],
  ['deployed since', withoutStacks, deployed, 1, 'it was not deployed, and is now arn:'],
])('--verify asks whether the stack is %s', async (_, planned, now, exitCode, said) => {
  const file = join(folder(), 'plan.json');
  account().answer(planned, changeSet());
  expect((await plan('--write', file)).exitCode).toBe(0);
  account().answer(now);
  const verified = await plan('--verify', file);
  expect(verified.exitCode).toBe(exitCode);
  expect(verified.stdout + verified.stderr).toContain(said);
  expect(called()).toEqual(['cloudformation:DescribeStacks']);
});
