import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { statefulTypes } from '../../cli/stateful-types';
import { callsNotGranted } from '../support/granted';
import { temporaryFolder } from '../support/temporary-folder';
import { walletCommands } from '../support/wallet-commands';
import { changeSetOf, withoutStacks, withStacks } from './deployed-stacks';
import { localAccount, type Replies, refusal, result } from './local-account';
import { wallet } from './region';

const account = localAccount();
const folder = temporaryFolder();
const template = {
  Parameters: { WebhookOriginZone: { Type: 'String' }, New: { Type: 'String', Default: 'x' } },
  Resources: { Key: { Type: 'AWS::KMS::Key' }, Role: { Type: 'AWS::IAM::Role' } },
};

afterEach(() => {
  // S3's protocol has no action.
  const calls = account().calls.filter(({ service }) => service !== 's3');
  expect(callsNotGranted('read', calls)).toEqual([]);
});

beforeEach(() => {
  writeFileSync(join(folder(), 'WalletEu.template.json'), JSON.stringify(template));
  const properties = {
    templateFile: 'WalletEu.template.json',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the CDK's placeholder
    stackTemplateAssetObjectUrl: 's3://cdk-hnb659fds-assets-${AWS::AccountId}-eu-central-1/abc.json',
    tags: { environment: 'eu' },
  };
  const artifacts = { WalletEu: { environment: 'aws://unknown-account/eu-central-1', properties } };
  writeFileSync(join(folder(), 'manifest.json'), JSON.stringify({ artifacts }));
});

const plan = (...args: string[]) => wallet('plan', '--stack', 'WalletEu', '--assembly', folder(), ...args);
const called = () => account().calls.map(({ service, action }) => `${service}:${action}`);

const modified = (LogicalResourceId: string, ResourceType: string, Replacement: string, Target: object) => ({
  Action: 'Modify',
  LogicalResourceId,
  ResourceType,
  Replacement,
  Details: [{ Target, ...(Replacement === 'Conditional' && { CausingEntity: 'X.Arn' }) }],
});
const change = (LogicalResourceId: string, ResourceType: string, Action: string, PolicyAction?: string) => ({
  Action,
  LogicalResourceId,
  ResourceType,
  PolicyAction,
});
const timeout = {
  Path: '/Properties/Timeout',
  BeforeValue: '28',
  AfterValue: '2<8|',
  RequiresRecreation: 'Never',
};
const property = (Name: string) => ({ Attribute: 'Properties', Name, RequiresRecreation: 'Always' });

/** Each kind of change, to resources with and without state: its effect, and whether it causes a warning. */
const changes: readonly (readonly [{ LogicalResourceId: string; ResourceType: string }, string, boolean])[] =
  [
    [change('Function', 'AWS::Lambda::Function', 'Add'), 'added', false],
    [modified('Handler', 'AWS::Lambda::Function', 'False', timeout), 'changed', false],
    [modified('Cluster', 'AWS::RDS::DBCluster', 'True', property('DatabaseName')), 'replaced', true],
    [modified('Queue', 'AWS::SQS::Queue', 'Conditional', property('QueueName')), 'perhaps replaced', true],
    [change('OldKey', 'AWS::KMS::Key', 'Remove', 'Retain'), 'left behind', true],
    [change('Secret', 'AWS::SecretsManager::Secret', 'Remove', 'Delete'), 'deleted', true],
    [change('Alarm', 'AWS::CloudWatch::Alarm', 'Remove', 'Delete'), 'deleted', false],
    [change('Eip', 'AWS::EC2::EIP', 'Dynamic'), 'unknown', true],
    [change('Imported', 'AWS::SQS::Queue', 'Import'), 'imported', false],
  ];
const changeSet = changeSetOf(changes.map(([each]) => each));

it('creates a change set, reads all pages, and deletes it', async () => {
  account().answer(withStacks(), changeSet);
  const { exitCode, stdout } = await plan('--json');
  const { changes: planned, ...facts } = JSON.parse(stdout);
  expect({ exitCode, facts }).toMatchObject({
    exitCode: 0,
    facts: { stack: 'WalletEu', region: 'eu-central-1', base: { changed: '2026-11-20T12:00:00.000Z' } },
  });
  expect(planned.map(({ details: _, ...each }: { details: unknown }) => each)).toEqual(
    changes.map(([{ LogicalResourceId, ResourceType }, effect, warns]) => ({
      logicalId: LogicalResourceId,
      type: ResourceType,
      effect,
      ...(warns && { warning: statefulTypes[ResourceType]?.remedy }),
    })),
  );

  const [, put, create, ...others] = account().calls;
  const [, name, key] =
    /^PUT \/cdk-hnb659fds-assets-111122223333-eu-central-1\/wallet-plan\/((wallet-plan-[\w-]+)\.json)/.exec(
      put?.action ?? '',
    ) ?? [];
  expect(create?.input).toMatchObject({
    StackName: 'WalletEu',
    ChangeSetName: key,
    TemplateURL: `https://cdk-hnb659fds-assets-111122223333-eu-central-1.s3.eu-central-1.amazonaws.com/wallet-plan/${name}`,
    Parameters: [{ ParameterKey: 'WebhookOriginZone', UsePreviousValue: 'true' }],
    Tags: [{ Key: 'environment', Value: 'eu' }],
  });
  expect(create?.input.RoleARN).toBeUndefined();
  const [removal, deletion, ...pages] = others.reverse();
  expect(removal?.action).toContain(
    `DELETE /cdk-hnb659fds-assets-111122223333-eu-central-1/wallet-plan/${name}`,
  );
  expect(deletion).toMatchObject({ action: 'DeleteChangeSet', input: { ChangeSetName: key } });
  expect(new Set(pages.map(({ action }) => action))).toEqual(new Set(['DescribeChangeSet']));
});

it('lists the most severe first, and escapes template values', async () => {
  account().answer(withStacks(), changeSet);
  const { stdout } = await plan();
  expect(stdout.match(/\[!CAUTION\]/g)).toHaveLength(5);
  expect(stdout).toMatch(
    /`Cluster` \(AWS::RDS::DBCluster\) is stateful and would be replaced\.\*\*[\s\S]*\| Effect \|/,
  );
  for (const part of [
    '2 deleted, 1 replaced, 1 left behind, 1 perhaps replaced, 1 unknown, 1 changed, 1 imported, 1 added.',
    '| changed | `Handler` | AWS::Lambda::Function | /Properties/Timeout: 28 → 2&lt;8\\| |',
    'Properties/DatabaseName, which replaces it',
    'Properties/QueueName, by X.Arn, which replaces it',
  ])
    expect(stdout).toContain(part);
});

const noChanges = "The submitted information didn't contain changes. Submit different.";
const creating = { 'cloudformation:CreateChangeSet': () => refusal('AccessDenied') };
it.each<[string, Replies, exitCode: number, said: string]>([
  ['nothing changes', changeSetOf([], { Status: 'FAILED', StatusReason: noChanges }), 0, 'No changes.'],
  ['the template is wrong', changeSetOf([], { Status: 'FAILED', StatusReason: 'X.' }), 1, 'change set: X.\n'],
  ['no reason given', changeSetOf([], { Status: 'FAILED' }), 1, 'no reason given'],
  ['the call is refused', { ...changeSet, ...creating }, 1, 'role that has cloudformation:CreateChangeSet.'],
])('leaves nothing behind when %s', async (_, replies, code, said) => {
  account().answer(withStacks(), replies);
  const { exitCode, stdout, stderr } = await plan();
  expect({ exitCode, said: stdout + stderr }).toEqual({
    exitCode: code,
    said: expect.stringContaining(said),
  });
  const isMade = !said.includes('CreateChangeSet');
  expect(called().at(-2)).toBe(`cloudformation:${isMade ? 'DeleteChangeSet' : 'CreateChangeSet'}`);
  expect(called().at(-1)).toMatch(/^s3:DELETE /);
});

it('waits for the change set', async () => {
  const statuses = ['CREATE_COMPLETE', 'CREATE_IN_PROGRESS'];
  account().answer(withStacks(), {
    ...changeSet,
    'cloudformation:DescribeChangeSet': () => result({ Status: statuses.pop(), Changes: [] }),
  });
  expect(await plan()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('No changes.') });
  expect(statuses).toEqual([]);
}, 20_000);

it('plans a new stack from its template, without a change set', async () => {
  account().answer(withoutStacks);
  const { exitCode, stdout } = await plan();
  expect({ exitCode, calls: called() }).toEqual({ exitCode: 0, calls: ['cloudformation:DescribeStacks'] });
  expect(stdout).toContain('The stack is new.\n\n2 added.');
});

describe('--verify', () => {
  const later = withStacks('2026-11-21T08:00:00.000Z');
  const other = withStacks(undefined, { StackId: 'arn:aws:cloudformation:eu-central-1:1:stack/WalletEu/1' });
  it.each<[string, planned: Replies, now: Replies, exitCode: number, said: string]>([
    ['as it was', withStacks(), withStacks(), 0, 'WalletEu has not changed since the plan.'],
    ['changed since', withStacks(), later, 1, ', last changed at 2026-11-21T08:00:00.000Z.\nPlan again'],
    ['gone', withStacks(), withoutStacks, 1, 'and is now not deployed.'],
    [
      'another',
      withStacks(),
      other,
      1,
      'and is now arn:aws:cloudformation:eu-central-1:1:stack/WalletEu/1, last',
    ],
    ['there by now', withoutStacks, withStacks(), 1, 'it was not deployed, and is now arn:'],
  ])('asks whether the stack is %s', async (_, planned, now, exitCode, said) => {
    const file = join(folder(), 'plan.json');
    account().answer(planned, changeSet);
    expect((await plan('--write', file)).exitCode).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ stack: 'WalletEu' });
    account().answer(now);
    const verified = await plan('--verify', file);
    expect(verified.exitCode).toBe(exitCode);
    expect(verified.stdout + verified.stderr).toContain(said);
    expect(called()).toEqual(['cloudformation:DescribeStacks']);
  });

  it.each(['{"stack":"WalletUae","base":null}', '{"stack":"WalletEu"}', 'null', ''])(
    'accepts no %s as its plan',
    async (text) => {
      const file = join(folder(), 'plan.json');
      writeFileSync(file, text);
      expect(await plan('--verify', file)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/Cannot read|is not a plan of WalletEu/),
      });
    },
  );
});

it('names an assembly without the stack; the default does not depend on the working directory', async () => {
  account().answer(withoutStacks);
  const other = await wallet('plan', '--stack', 'WalletUae', '--assembly', folder());
  expect(other.stderr).toContain('has no stack WalletUae');
  const [, command] = walletCommands.find(([path]) => path === 'plan') ?? [];
  expect(command?.opts().assembly).toBe(resolve(__dirname, '../../cdk.out'));
});
