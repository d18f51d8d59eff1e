import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { statefulTypes } from '../../../lib/checks/stateful-types';
import { withTemporaryFolder } from '../../support/stacks';
import { temporaryFolder } from '../../support/temporary-folder';
import { localAccount, refusal, result } from '../local-account';
import { wallet } from '../region';
import { changeSetOf, changes } from './change-sets';
import { withoutStacks, withStacks } from './deployed';

const account = localAccount();
const folder = temporaryFolder();

const template = {
  Resources: { Queue: { Type: 'AWS::SQS::Queue' }, Topic: { Type: 'AWS::SNS::Topic' } },
  Parameters: { WebhookOriginZone: { Type: 'String' }, New: { Type: 'String' } },
};

/** An assembly in the shape that the CDK writes. */
function writeAssembly(): string {
  writeFileSync(join(folder(), 'WalletEu.template.json'), JSON.stringify(template, undefined, 2));
  const properties = {
    templateFile: 'WalletEu.template.json',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the CDK's placeholder
    stackTemplateAssetObjectUrl: 's3://cdk-hnb659fds-assets-${AWS::AccountId}-eu-central-1/abc.json',
    tags: { environment: 'eu' },
  };
  const artifacts = { WalletEu: { type: 'aws:cloudformation:stack', properties } };
  writeFileSync(join(folder(), 'manifest.json'), JSON.stringify({ artifacts }));
  return folder();
}

const plan = (...args: string[]) =>
  wallet('plan', '--stack', 'WalletEu', '--assembly', writeAssembly(), '--interval', '0.001', ...args);

const called = () => account().calls.map(({ service, action }) => `${service}:${action}`);

it('has CloudFormation make a change set, reads all of it, and leaves nothing behind', async () => {
  account().answer(withStacks(), changeSetOf(changes, 3));
  const { exitCode, stdout, stderr } = await plan('--json');
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: 'Asking CloudFormation what would change in WalletEu (eu-central-1) …\n',
  });
  const planned = JSON.parse(stdout);
  expect(planned).toMatchObject({
    stack: 'WalletEu',
    region: 'eu-central-1',
    base: { changed: '2026-11-20T12:00:00.000Z' },
  });
  expect(planned.changes).toHaveLength(changes.length);

  const [describe, put, create, ...others] = account().calls;
  expect(describe?.action).toBe('DescribeStacks');
  expect(put?.service).toBe('s3');
  const key =
    /^PUT \/(cdk-hnb659fds-assets-111122223333-eu-central-1\/(wallet-plan\/(wallet-plan-[\w-]+)\.json))/.exec(
      put?.action ?? '',
    );
  expect(create?.input).toMatchObject({
    StackName: 'WalletEu',
    ChangeSetName: key?.[3],
    TemplateURL: `https://cdk-hnb659fds-assets-111122223333-eu-central-1.s3.eu-central-1.amazonaws.com/${key?.[2]}`,
    Parameters: [{ ParameterKey: 'WebhookOriginZone', UsePreviousValue: 'true' }],
    Tags: [{ Key: 'environment', Value: 'eu' }],
  });
  expect(create?.input.RoleARN).toBeUndefined();
  expect(others.map(({ action }) => action.split('?')[0])).toEqual([
    'DescribeChangeSet',
    'DescribeChangeSet',
    'DescribeChangeSet',
    'DeleteChangeSet',
    `DELETE /${key?.[1]}`,
  ]);
  expect(others.at(-2)?.input.ChangeSetName).toBe(key?.[3]);
  expect(called().filter((call) => call.includes('Execute'))).toEqual([]);
});

it('tells what happens to each resource, and warns of what holds state alone', async () => {
  account().answer(withStacks(), changeSetOf(changes));
  const planned = JSON.parse((await plan('--json')).stdout);
  const told = planned.changes.map(({ logicalId, effect, warning }: Record<string, string>) => [
    logicalId,
    effect,
    warning,
  ]);
  expect(told).toEqual([
    ['NewFunction', 'added', undefined],
    ['DeleteUserGroup', 'changed', undefined],
    ['DatabaseCluster', 'replaced', statefulTypes['AWS::RDS::DBCluster']?.remedy],
    ['WebhookEventsQueue', 'perhaps replaced', statefulTypes['AWS::SQS::Queue']?.remedy],
    ['DatabaseKey', 'left behind', statefulTypes['AWS::KMS::Key']?.remedy],
    ['OldSecret', 'deleted', statefulTypes['AWS::SecretsManager::Secret']?.remedy],
    ['OldAlarm', 'deleted', undefined],
    ['WebhookOriginElasticIp', 'unknown', statefulTypes['AWS::EC2::EIP']?.remedy],
    ['Imported', 'imported', undefined],
  ]);
});

it('shows the worst first, and no value of a template as markup', async () => {
  account().answer(withStacks(), changeSetOf(changes));
  const { stdout } = await plan();
  expect(stdout.match(/\[!CAUTION\]/g)).toHaveLength(5);
  expect(
    stdout.indexOf('> **`DatabaseCluster` (AWS::RDS::DBCluster) holds state and would be replaced.**'),
  ).toBeLessThan(stdout.indexOf('| Effect |'));
  expect(stdout).toContain(
    '2 deleted, 1 replaced, 1 left behind, 1 perhaps replaced, 1 unknown, 1 changed, 1 imported, 1 added.',
  );
  expect(stdout).toContain(
    '| changed | `DeleteUserGroup` | AWS::Lambda::Function | /Properties/Timeout: 28 → 2&lt;8\\| |',
  );
  expect(stdout).toContain('Properties/DatabaseName, which replaces it');
  expect(stdout).toContain('Properties/QueueName, by X.Arn, which replaces it');
});

it('plans a stack that is not there from its template, without a change set', async () => {
  account().answer(withoutStacks);
  const { exitCode, stdout } = await plan();
  expect({ exitCode, calls: called() }).toEqual({ exitCode: 0, calls: ['cloudformation:DescribeStacks'] });
  expect(stdout).toContain('A new stack.\n\n2 added.');
});

it('says when nothing changes', async () => {
  account().answer(withStacks(), {
    ...changeSetOf([]),
    'cloudformation:DescribeChangeSet': () =>
      result({
        Status: 'FAILED',
        StatusReason: "The submitted information didn't contain changes. Submit different.",
      }),
  });
  expect(await plan()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Nothing changes.') });
});

it.each([
  [
    'that CloudFormation refuses',
    { Status: 'FAILED', StatusReason: 'Template error: X' },
    'CloudFormation refuses the change set: Template error: X.',
  ],
  ['that fails without a reason', { Status: 'FAILED' }, 'no reason is given'],
])('a change set %s is a failure, and is deleted', async (_, described, message) => {
  account().answer(withStacks(), {
    ...changeSetOf([]),
    'cloudformation:DescribeChangeSet': () => result(described),
  });
  const { exitCode, stderr } = await plan();
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(message) });
  expect(called()).toContain('cloudformation:DeleteChangeSet');
  expect(called().at(-1)).toMatch(/^s3:DELETE /);
});

it('a call that is refused names its permission, and the template does not stay', async () => {
  account().answer(withStacks(), {
    ...changeSetOf([]),
    'cloudformation:CreateChangeSet': () => refusal('AccessDenied'),
  });
  const { exitCode, stderr } = await plan();
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringContaining('Sign in as someone who has cloudformation:CreateChangeSet.'),
  });
  expect(called().at(-1)).toMatch(/^s3:DELETE /);
});

describe('--verify', () => {
  const planned = async () => {
    const file = join(folder(), 'plan.json');
    expect((await plan('--write', file)).exitCode).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ stack: 'WalletEu' });
    return file;
  };

  it('passes while the stack is as the plan found it, and makes no change set', async () => {
    account().answer(withStacks(), changeSetOf(changes));
    const file = await planned();
    account().answer(withStacks());
    expect(await plan('--verify', file)).toMatchObject({
      exitCode: 0,
      stdout: 'WalletEu is as the plan found it.\n',
    });
    expect(called()).toEqual(['cloudformation:DescribeStacks']);
  });

  it.each([
    [
      'changed since',
      withStacks('2026-11-21T08:00:00.000Z'),
      'and is last changed at 2026-11-21T08:00:00.000Z.',
    ],
    ['gone', withoutStacks, 'and is not deployed.'],
    [
      'another',
      withStacks(undefined, { StackId: 'arn:aws:cloudformation:eu-central-1:1:stack/WalletEu/1' }),
      'as another stack',
    ],
  ])('fails when the stack is %s', async (_, now, message) => {
    account().answer(withStacks(), changeSetOf(changes));
    const file = await planned();
    account().answer(now);
    const { exitCode, stderr } = await plan('--verify', file);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(message) });
    expect(stderr).toContain('Plan again');
  });

  it('fails when the stack was planned as new and is there by now', async () => {
    account().answer(withoutStacks);
    const file = await planned();
    account().answer(withStacks());
    expect(await plan('--verify', file)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('WalletEu was not deployed when it was planned'),
    });
  });

  it('takes no plan of another stack, and no file that is none', async () => {
    const file = join(folder(), 'plan.json');
    writeFileSync(file, JSON.stringify({ stack: 'WalletUae', base: null }));
    expect(await plan('--verify', file)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('of WalletUae'),
    });
    for (const text of ['', 'null', '{"stack":"WalletEu"}']) {
      writeFileSync(file, text);
      expect(await plan('--verify', file)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('cannot be read'),
      });
    }
  });
});

it('names an assembly that is none, and a stack that it does not have', async () => {
  account().answer(withoutStacks);
  await withTemporaryFolder(async (empty) => {
    const none = await wallet('plan', '--stack', 'WalletEu', '--assembly', empty);
    expect(none).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('manifest.json cannot be read'),
    });
  });
  const other = await wallet('plan', '--stack', 'WalletUae', '--assembly', writeAssembly());
  expect(other).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('has no stack WalletUae') });
});
