import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatReport } from '../../.ci/diff-report';
import { obstaclesTo } from '../../.ci/obstacles';
import { readStacks } from '../../.ci/stacks';
import { temporaryFolder } from '../support/temporary-folder';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

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

/** The report on a change to a stack's resources or other sections. */
function reportOn(change: (resources: Json) => unknown, more = {}): string {
  const changed = structuredClone(resources);
  change(changed);
  return formatReport({ WalletEu: stack(resources) }, { WalletEu: { ...stack(changed), ...more } });
}

it('reports that nothing changes', () => {
  expect(reportOn(() => {})).toBe('## Changes to the stacks\n\nNo stack changes.');
});

it.each<[string, (resources: Json) => unknown, string, object?]>([
  [
    'replaced',
    (all) => Object.assign(all.Cluster.Properties, { DatabaseName: 'purse', Port: 5433 }),
    '`Cluster` (AWS::RDS::DBCluster) would be replaced: DatabaseName was "wallet" and is "purse". Without `database.restoreFrom`',
  ],
  [
    'replaced, according to its documentation rather than the library',
    (all) => Object.assign(all.Address.Properties, { PublicIpv4Pool: 'x' }),
    '`Address` (AWS::EC2::EIP) may be replaced: PublicIpv4Pool was absent and is "x". Webhooks would come',
  ],
  [
    'removed and retained',
    (all) => delete all.Queue,
    '`Queue` (AWS::SQS::Queue) would be removed from the stack and retained. Messages that wait',
  ],
  [
    'removed',
    (all) => delete all.Disposable,
    '`Disposable` (AWS::SQS::Queue) would be removed from the stack and deleted.',
  ],
  [
    'of another type',
    (all) => Object.assign(all.Queue, { Type: 'AWS::SNS::Topic', Properties: {} }),
    '`Queue` (AWS::SQS::Queue) would be replaced by a AWS::SNS::Topic.',
  ],
  [
    'no longer retained',
    (all) => Object.assign(all.Queue, { DeletionPolicy: 'Delete' }),
    '`Queue` (AWS::SQS::Queue) would no longer be retained: DeletionPolicy changes.',
  ],
  [
    'in another region',
    () => {},
    'The stack would be created in aws://1/eu-west-1',
    { environment: 'aws://1/eu-west-1' },
  ],
  [
    'unprotected',
    () => {},
    'The stack would lose its termination protection',
    { terminationProtection: false },
  ],
  [
    'migrated irreversibly',
    (all) => Object.assign(all.Migration.Metadata.IrreversibleMigrations, { '0002-drop': 'it held secrets' }),
    'Migration `0002-drop` prevents a rollback: it held secrets.',
  ],
])('starts with a warning about state that would be %s', (_, change, loss, more = {}) => {
  const report = reportOn(change, more);
  expect(report).toMatch(/^## [^\n]+\n\n> \[!CAUTION\]\n/);
  expect(report).toContain(`\n> - **WalletEu**: ${loss}`);
});

it('does not warn about changes in place, or resources that can be recreated', () => {
  const report = reportOn((all) => {
    all.Cluster.Properties.Port = 5433;
    all.Password.Properties.Name = 'b';
  });
  expect(report).not.toContain('[!CAUTION]');
  expect(report).toMatch(
    /<details><summary>2 differences<[\s\S]*\[-\] 5432[\s\S]*\[\+\] 5433[\s\S]*<\/details>/,
  );
});

it('names the functions that only have new code, and shortens hashes', () => {
  const code = (digit: string) => ({ Code: { S3Key: `${hash(digit)}.zip` } });
  const rebuilt = reportOn((all) => Object.assign(all.Handler, { Properties: code('b') }));
  expect(rebuilt).toMatch(/### WalletEu\n\nNew code in: `Handler`\n$/);
  const larger = reportOn((all) =>
    Object.assign(all.Handler, { Properties: { MemorySize: 512, ...code('b') } }),
  );
  expect(larger).toContain('[+] bbbbbbbb….zip');
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
  /** The obstacles after a deployment of `change`. */
  const obstacles = (change: (resources: Json) => unknown, replaced: unknown = before) => {
    const deployed = structuredClone(lastGood);
    change(deployed);
    return obstaclesTo(stack(lastGood), stack(deployed), replaced);
  };

  it('to the previous assembly is possible', () => {
    expect(obstacles((all) => Object.assign(all, { New: { Type: 'AWS::SNS::Topic' } }))).toEqual([]);
  });

  it.each<[string, (resources: Json) => unknown, unknown?]>([
    ['Before this release, the stack did not have the last good template.', () => {}, { Resources: {} }],
    ['Before this release, the stack did not have the last good template.', () => {}, null],
    [
      '`Cluster` (AWS::RDS::DBCluster) would be replaced: SnapshotIdentifier was "x"',
      (all) => Object.assign(all.Cluster.Properties, { SnapshotIdentifier: 'x' }),
    ],
    [
      'Migration `0002-drop` prevents a rollback: it held secrets.',
      (all) =>
        Object.assign(all.Migration.Metadata.IrreversibleMigrations, { '0002-drop': 'it held secrets' }),
    ],
    [
      '`Cluster` has engine version 17.10 and cannot be downgraded to 17.9.',
      (all) => Object.assign(all.Cluster.Properties, { EngineVersion: '17.10' }),
    ],
  ])('is refused: %s', (reason, change, replaced = before) => {
    expect(obstacles(change, replaced)).toEqual([expect.stringContaining(reason)]);
  });
});

describe('the stacks of an assembly', () => {
  const folder = temporaryFolder();

  it('are those of its manifest', () => {
    const assembly = join(folder(), 'cdk.out');
    mkdirSync(assembly);
    const { environment, terminationProtection, template } = stack(resources);
    const properties = { templateFile: 'a.json', terminationProtection };
    const artifacts = {
      Eu: { type: 'aws:cloudformation:stack', environment, properties },
      'Eu.assets': { type: 'cdk:asset-manifest', properties: {} },
    };
    writeFileSync(join(assembly, 'manifest.json'), JSON.stringify({ artifacts }));
    writeFileSync(join(assembly, 'a.json'), JSON.stringify(template));
    expect(readStacks(assembly)).toEqual({ Eu: stack(resources) });
  });
});
