import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { statefulTypes } from '../../cli/stateful-types';
import { callsNotGranted } from '../support/granted';
import { temporaryFolder } from '../support/temporary-folder';
import { type Replies, refusal, result, useAccount, withoutStacks, withStacks } from './account';
import { wallet } from './region';

const account = useAccount();
const folder = temporaryFolder();
beforeEach(() => {
  const template = {
    Parameters: { WebhookOriginZone: { Type: 'String' }, New: { Type: 'String', Default: 'x' } },
    Resources: { Key: { Type: 'AWS::KMS::Key' }, Role: { Type: 'AWS::IAM::Role' } },
  };
  const properties = {
    templateFile: 'WalletEu.template.json',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the CDK's placeholder
    stackTemplateAssetObjectUrl: 's3://cdk-hnb659fds-assets-${AWS::AccountId}-eu-central-1/abc.json',
    tags: { environment: 'eu' },
  };
  const artifacts = { WalletEu: { environment: 'aws://unknown-account/eu-central-1', properties } };
  writeFileSync(join(folder(), 'WalletEu.template.json'), JSON.stringify(template));
  writeFileSync(join(folder(), 'manifest.json'), JSON.stringify({ artifacts }));
});
afterEach(() => {
  // S3's protocol has no action.
  const calls = account().calls.filter(({ service }) => service !== 's3');
  expect(callsNotGranted('read', calls)).toEqual([]);
});

const plan = (...args: string[]) => wallet('plan', '--stack', 'WalletEu', '--assembly', folder(), ...args);
const called = () => account().calls.map(({ service, action }) => `${service}:${action}`);
const Parameters = ['WebhookOriginZone', 'Gone'].map((ParameterKey) => ({
  ParameterKey,
  ParameterValue: '2',
}));
const deployed = withStacks(undefined, { Parameters });

const change = (LogicalResourceId: string, ResourceType: string, Action: string, more: object = {}) => ({
  ...{ Action, LogicalResourceId, ResourceType },
  ...more,
});
const modified = (Replacement: string, Target: object, CausingEntity?: string) => ({
  Replacement,
  Details: [{ Target, CausingEntity }],
});
const property = (Name: string) => ({ Attribute: 'Properties', Name, RequiresRecreation: 'Always' });
const timeout = {
  ...{ Path: '/Properties/Timeout', BeforeValue: '28', AfterValue: '2<8|' },
  RequiresRecreation: 'Never',
};

/** Each kind of change, to resources with and without state: its effect, and whether it causes a warning. */
const changes = [
  [change('Function', 'AWS::Lambda::Function', 'Add'), 'added', false],
  [change('Handler', 'AWS::Lambda::Function', 'Modify', modified('False', timeout)), 'changed', false],
  [
    change('Cluster', 'AWS::RDS::DBCluster', 'Modify', modified('True', property('DatabaseName'))),
    'replaced',
    true,
  ],
  [
    change('Queue', 'AWS::SQS::Queue', 'Modify', modified('Conditional', property('QueueName'), 'X.Arn')),
    'may be replaced',
    true,
  ],
  [change('OldKey', 'AWS::KMS::Key', 'Remove', { PolicyAction: 'Retain' }), 'retained', true],
  [change('Secret', 'AWS::SecretsManager::Secret', 'Remove', { PolicyAction: 'Delete' }), 'deleted', true],
  [change('Alarm', 'AWS::CloudWatch::Alarm', 'Remove', { PolicyAction: 'Delete' }), 'deleted', false],
  [change('Eip', 'AWS::EC2::EIP', 'Dynamic'), 'unknown', true],
] as const;

/** CloudFormation is busy at first, then returns the changes, a page each, or this response; S3 accepts the template. */
function changeSet(status: object = {}): Replies {
  const statuses = ['CREATE_PENDING'];
  return {
    's3:*': () => ({}),
    'cloudformation:CreateChangeSet': () =>
      result({ Id: 'arn:aws:cloudformation:eu-central-1:1:changeSet/x' }),
    'cloudformation:DeleteChangeSet': () => result({}),
    'cloudformation:DescribeChangeSet': ({ input }) => {
      const Status = statuses.pop();
      if (Status) return result({ Status });
      const page = Number(input.NextToken ?? 0);
      return result({
        Status: 'CREATE_COMPLETE',
        Changes: changes.slice(page, page + 1).map(([each]) => ({ Type: 'Resource', ResourceChange: each })),
        NextToken: page + 1 < changes.length ? String(page + 1) : undefined,
        ...status,
      });
    },
  };
}
jest.mock('node:timers/promises', () => ({
  setTimeout: (_: number, value: unknown) => new Promise((resolve) => setImmediate(resolve, value)),
}));

it('creates a change set, reads all pages, and deletes it', async () => {
  account().answer(deployed, changeSet());
  const { exitCode, stdout } = await plan('--json');
  const { changes: planned, ...facts } = JSON.parse(stdout);
  const base = { id: expect.stringContaining(':stack/WalletEu/'), changed: '2026-11-20T12:00:00.000Z' };
  expect({ exitCode, facts }).toEqual({
    exitCode: 0,
    facts: { stack: 'WalletEu', region: 'eu-central-1', base },
  });
  expect(planned).toEqual(
    changes.map(([{ LogicalResourceId, ResourceType }, effect, warns]) => ({
      ...{ logicalId: LogicalResourceId, type: ResourceType, effect, details: expect.any(Array) },
      ...(warns && { warning: statefulTypes[ResourceType]?.remedy }),
    })),
  );

  const [, put, create, ...others] = account().calls;
  const bucket = 'cdk-hnb659fds-assets-111122223333-eu-central-1';
  const [, name, id] = /\/wallet-plan\/((wallet-plan-[\w-]+)\.json)/.exec(put?.action ?? '') ?? [];
  expect(put?.action).toMatch(`PUT /${bucket}/wallet-plan/${name}`);
  expect(create?.input).toMatchObject({
    ...{ StackName: 'WalletEu', ChangeSetName: id },
    TemplateURL: `https://${bucket}.s3.eu-central-1.amazonaws.com/wallet-plan/${name}`,
    Parameters: [{ ParameterKey: 'WebhookOriginZone', UsePreviousValue: 'true' }],
    Tags: [{ Key: 'environment', Value: 'eu' }],
  });
  expect(create?.input.RoleARN).toBeUndefined();
  expect(others.at(-2)).toMatchObject({ action: 'DeleteChangeSet', input: { ChangeSetName: id } });
  expect(others.at(-1)?.action).toMatch(`DELETE /${bucket}/wallet-plan/${name}`);
});

it('lists the most severe first, and escapes template values', async () => {
  account().answer(deployed, changeSet());
  const { stdout } = await plan();
  expect(stdout.match(/\[!CAUTION\]/g)).toHaveLength(5);
  expect(stdout).toMatch(
    /`Cluster` \(AWS::RDS::DBCluster\) is stateful and would be replaced\.\*\*[\s\S]*\| Effect \|/,
  );
  for (const part of [
    '2 deleted, 1 replaced, 1 retained, 1 may be replaced, 1 unknown, 1 changed, 1 added.',
    '| changed | `Handler` | AWS::Lambda::Function | /Properties/Timeout: 28 → 2&lt;8\\| |',
    'Properties/DatabaseName, which replaces it',
    'Properties/QueueName, by X.Arn, which replaces it',
  ])
    expect(stdout).toContain(part);
});

const noChanges = "The submitted information didn't contain changes. Submit different.";
it.each<[string, Replies, exitCode: number, said: string]>([
  ['nothing changes', changeSet({ Status: 'FAILED', StatusReason: noChanges }), 0, 'No changes.'],
  ['the template is wrong', changeSet({ Status: 'FAILED', StatusReason: 'X.' }), 1, 'change set: X.\n'],
  [
    'AWS denies it',
    { 's3:*': () => ({}), 'cloudformation:*': () => refusal('AccessDenied') },
    1,
    'CreateChangeSet.',
  ],
])('leaves nothing behind when %s', async (_, replies, code, said) => {
  account().answer(deployed, replies);
  const { exitCode, stdout, stderr } = await plan();
  expect({ exitCode, said: stdout + stderr }).toEqual({
    exitCode: code,
    said: expect.stringContaining(said),
  });
  const isMade = !said.includes('CreateChangeSet');
  expect(called().at(-2)).toBe(`cloudformation:${isMade ? 'DeleteChangeSet' : 'CreateChangeSet'}`);
  expect(called().at(-1)).toMatch(/^s3:DELETE /);
});

it('plans a new stack from its template, without a change set', async () => {
  account().answer(withoutStacks);
  const { exitCode, stdout } = await plan();
  expect({ exitCode, calls: called() }).toEqual({ exitCode: 0, calls: ['cloudformation:DescribeStacks'] });
  expect(stdout).toContain('The stack is new.\n\n2 added.');
  const other = await wallet('plan', '--stack', 'WalletUae', '--assembly', folder());
  expect(other.stderr).toContain('has no stack WalletUae');
});

describe('--verify', () => {
  const later = withStacks('2026-11-21T08:00:00.000Z');
  const other = withStacks(undefined, { StackId: 'arn:aws:cloudformation:eu-central-1:1:stack/WalletEu/1' });
  it.each<[string, planned: Replies, now: Replies, exitCode: number, said: string]>([
    ['unchanged', deployed, deployed, 0, 'WalletEu has not changed since the plan.'],
    ['changed since', deployed, later, 1, ', last changed at 2026-11-21T08:00:00.000Z.\nPlan again'],
    ['deleted', deployed, withoutStacks, 1, 'and is now not deployed.'],
    ['another one', deployed, other, 1, 'now arn:aws:cloudformation:eu-central-1:1:stack/WalletEu/1, last'],
    ['deployed since', withoutStacks, deployed, 1, 'it was not deployed, and is now arn:'],
  ])('asks whether the stack is %s', async (_, planned, now, exitCode, said) => {
    const file = join(folder(), 'plan.json');
    account().answer(planned, changeSet());
    expect((await plan('--write', file)).exitCode).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ stack: 'WalletEu' });
    account().answer(now);
    const verified = await plan('--verify', file);
    expect(verified.exitCode).toBe(exitCode);
    expect(verified.stdout + verified.stderr).toContain(said);
    expect(called()).toEqual(['cloudformation:DescribeStacks']);
  });

  it.each(['{"stack":"WalletUae","base":null}', '{"stack":"WalletEu"}', 'null', ''])(
    'refuses %s',
    async (text) => {
      account().answer(deployed);
      const file = join(folder(), 'plan.json');
      writeFileSync(file, text);
      const { exitCode, stderr } = await plan('--verify', file);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/Cannot read|is not a plan of WalletEu/);
    },
  );
});
