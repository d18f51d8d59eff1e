import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatReport } from '../../.ci/diff-report';
import { obstaclesTo } from '../../.ci/obstacles';
import { readStacks } from '../../.ci/stacks';
import { temporaryFolder } from '../support/temporary-folder';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const folder = temporaryFolder();
const hash = (digit: string) => digit.repeat(64);
const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
const resources = {
  Cluster: {
    Type: 'AWS::RDS::DBCluster',
    ...retained,
    Properties: { DatabaseName: 'wallet', EngineVersion: '17.9', Port: 5432 },
  },
  Address: { Type: 'AWS::EC2::EIP', ...retained, Properties: { Domain: 'vpc' } },
  Queue: { Type: 'AWS::SQS::Queue', ...retained, Properties: { VisibilityTimeout: 30 } },
  Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
  Disposable: { Type: 'AWS::SQS::Queue', Properties: {} },
  Password: { Type: 'AWS::SecretsManager::Secret', DeletionPolicy: 'Delete', Properties: { Name: 'a' } },
  Handler: { Type: 'AWS::Lambda::Function', Properties: { Code: { S3Key: `${hash('a')}.zip` } } },
  Migration: { Type: 'Custom::SchemaMigration', Metadata: { IrreversibleMigrations: {} } },
};

const stack = (Resources: Json) => ({
  environment: 'aws://1/eu-central-1',
  terminationProtection: true,
  template: { Resources },
});

const set = (resource: Json, properties: object) => Object.assign(resource.Properties, properties);
const addFinalMigration = ({ Migration }: Json) =>
  Object.assign(Migration.Metadata.IrreversibleMigrations, { '0002-drop': 'it held secrets' });

/** The report on a change to a stack's resources or other sections. */
function reportOn(change: (resources: Json) => unknown, more = {}): string {
  const changed = structuredClone(resources);
  change(changed);
  return formatReport({ WalletEu: stack(resources) }, { WalletEu: { ...stack(changed), ...more } });
}

it.each<[string, (resources: Json) => unknown, object?]>([
  [
    '`Cluster` (AWS::RDS::DBCluster) would be replaced: DatabaseName was "wallet" and is "purse". Without `database.restoreFrom`',
    ({ Cluster }) => set(Cluster, { DatabaseName: 'purse', Port: 5433 }),
  ],
  // According to its documentation rather than the library.
  [
    '`Address` (AWS::EC2::EIP) may be replaced: PublicIpv4Pool was absent and is "x". Webhooks would come',
    ({ Address }) => set(Address, { PublicIpv4Pool: 'x' }),
  ],
  [
    '`Queue` (AWS::SQS::Queue) would be removed from the stack and retained. Messages that wait',
    (all) => delete all.Queue,
  ],
  [
    '`Disposable` (AWS::SQS::Queue) would be removed from the stack and deleted.',
    (all) => delete all.Disposable,
  ],
  [
    '`Queue` (AWS::SQS::Queue) would be replaced by a AWS::SNS::Topic.',
    ({ Queue }) => Object.assign(Queue, { Type: 'AWS::SNS::Topic', Properties: {} }),
  ],
  [
    '`Queue` (AWS::SQS::Queue) would no longer be retained: DeletionPolicy changes.',
    ({ Queue }) => Object.assign(Queue, { DeletionPolicy: 'Delete' }),
  ],
  ['The stack would be created in aws://1/eu-west-1', () => {}, { environment: 'aws://1/eu-west-1' }],
  ['The stack would lose its termination protection', () => {}, { terminationProtection: false }],
  ['Migration `0002-drop` prevents a rollback: it held secrets.', addFinalMigration],
])('warns first: %s', (loss, change, more = {}) => {
  const report = reportOn(change, more);
  expect(report).toMatch(/^## [^\n]+\n\n> \[!CAUTION\]\n/);
  expect(report).toContain(`\n> - **WalletEu**: ${loss}`);
});

it('does not warn about changes in place, or resources that can be recreated', () => {
  expect(reportOn(() => {})).toBe('## Changes to the stacks\n\nNo stack changes.');
  const report = reportOn(({ Cluster, Password }) => {
    set(Cluster, { Port: 5433 });
    set(Password, { Name: 'b' });
  });
  expect(report).not.toContain('[!CAUTION]');
  expect(report).toMatch(/<details><summary>2 differences<.*\[-\] 5432.*\[\+\] 5433.*<\/details>/s);
});

it('names the functions that only have new code, and shortens hashes', () => {
  const Code = { S3Key: `${hash('b')}.zip` };
  const rebuilt = reportOn(({ Handler }) => set(Handler, { Code }));
  expect(rebuilt).toMatch(/### WalletEu\n\nNew code in: `Handler`\n$/);
  expect(reportOn(({ Handler }) => set(Handler, { Code, MemorySize: 512 }))).toContain('[+] bbbbbbbb….zip');
});

it('shows permissions that a change grants', () => {
  const Statement = [{ Effect: 'Allow', Action: 'kms:Sign', Resource: '*' }];
  const Properties = { Roles: [{ Ref: 'Role' }], PolicyDocument: { Statement } };
  const report = reportOn((all) => Object.assign(all, { Policy: { Type: 'AWS::IAM::Policy', Properties } }));
  expect(report).toMatch(/\+ │ \* +│ Allow +│ kms:Sign +│ AWS:\$\{Role\}/);
});

it('lists removed and new stacks', () => {
  const each = stack(resources);
  const report = formatReport({ Uae: each, Eu: each }, { Eu: each, Sg: each });
  expect(report).toContain('### Uae\n\nNo longer in the app.');
  expect(report).toContain('### Sg\n\nA new stack in aws://1/eu-central-1, with 8 resources.');
  expect(report).not.toContain('### Eu');
});

describe('a rollback', () => {
  const lastGood = { ...resources, Topic: { ...resources.Topic, Properties: { DisplayName: '…' } } };
  const before = { Resources: JSON.parse(JSON.stringify(lastGood).replace('…', '?')) };
  const otherTemplate = 'Before this release, the stack did not have the last good template.';

  it.each<[string | undefined, (resources: Json) => unknown, unknown?]>([
    [undefined, (all) => Object.assign(all, { New: { Type: 'AWS::SNS::Topic' } })],
    [otherTemplate, () => {}, { Resources: {} }],
    [otherTemplate, () => {}, null],
    [
      '`Cluster` (AWS::RDS::DBCluster) would be replaced: SnapshotIdentifier was "x"',
      ({ Cluster }) => set(Cluster, { SnapshotIdentifier: 'x' }),
    ],
    ['Migration `0002-drop` prevents a rollback: it held secrets.', addFinalMigration],
    [
      '`Cluster` has engine version 17.10 and cannot be downgraded to 17.9.',
      ({ Cluster }) => set(Cluster, { EngineVersion: '17.10' }),
    ],
  ])('has the obstacle: %s', (reason, change, replaced = before) => {
    const deployed = structuredClone(lastGood);
    change(deployed);
    const obstacles = obstaclesTo(stack(lastGood), stack(deployed), replaced);
    expect(obstacles).toEqual(reason ? [expect.stringContaining(reason)] : []);
  });
});

it('reads the stacks of an assembly from its manifest', () => {
  const { environment, terminationProtection, template } = stack(resources);
  const properties = { templateFile: 'a.json', terminationProtection };
  const artifacts = {
    Eu: { type: 'aws:cloudformation:stack', environment, properties },
    'Eu.assets': { type: 'cdk:asset-manifest', properties: {} },
  };
  writeFileSync(join(folder(), 'manifest.json'), JSON.stringify({ artifacts }));
  writeFileSync(join(folder(), 'a.json'), JSON.stringify(template));
  expect(readStacks(folder())).toEqual({ Eu: stack(resources) });
});
