import { obstaclesTo } from '../../.ci/list-obstacles';
import { formatReport } from '../../.ci/print-diff';
import type { Json } from '../support/stacks';

type Change = (resources: Json) => unknown;

const hash = (digit: string) => digit.repeat(64);
const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
const resources = {
  Cluster: {
    Type: 'AWS::RDS::DBCluster',
    ...retained,
    Properties: { DatabaseName: 'wallet', EngineVersion: '17.9', Port: 5432, DeletionProtection: true },
  },
  Address: { Type: 'AWS::EC2::EIP', ...retained, Properties: { Domain: 'vpc' } },
  Queue: { Type: 'AWS::SQS::Queue', ...retained, Properties: {} },
  Key: { Type: 'AWS::KMS::Key', ...retained, Properties: {} },
  Topic: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: '…' } },
  Disposable: { Type: 'AWS::SQS::Queue', Properties: {} },
  Password: { Type: 'AWS::SecretsManager::Secret', DeletionPolicy: 'Delete', Properties: { Name: 'a' } },
  Handler: { Type: 'AWS::Lambda::Function', Properties: { Code: { S3Key: `${hash('a')}.zip` } } },
};

const properties = { target: 'aws://1/eu-central-1', terminationProtection: true };
const stack = (Resources: Json) => ({ ...properties, template: { Resources } });
const changed = (change: Change) => {
  const copy = structuredClone(resources);
  change(copy);
  return stack(copy);
};
const set = (id: string, properties: object) => (all: Json) => Object.assign(all[id].Properties, properties);
const reportOn = (change: Change, more = {}) =>
  formatReport({ WalletEu: stack(resources) }, { WalletEu: { ...changed(change), ...more } });

const release: Change = ({ Queue }) => Object.assign(Queue, { DeletionPolicy: 'Delete' });

it.each<[string, Change, object?]>([
  [
    '`Cluster` (AWS::RDS::DBCluster) would be replaced: DatabaseName was "wallet" and is "purse". Without',
    set('Cluster', { DatabaseName: 'purse', Port: 5433 }),
  ],
  [
    '`Address` (AWS::EC2::EIP) would be replaced: Domain was "vpc" and is "x". Webhooks would come',
    set('Address', { Domain: 'x' }),
  ],
  // According to its documentation rather than the library.
  [
    '`Key` (AWS::KMS::Key) may be replaced: MultiRegion was absent and is true. What the key encrypted',
    set('Key', { MultiRegion: true }),
  ],
  ['`Queue` (AWS::SQS::Queue) would be removed from the stack and retained.', (all) => delete all.Queue],
  ['`Disposable` (AWS::SQS::Queue) would be removed from the stack and del', (all) => delete all.Disposable],
  ['`Queue` (AWS::SQS::Queue) would no longer be retained: DeletionPolicy changes.', release],
  ['The stack would be created in aws://1/eu-west-1', () => {}, { target: 'aws://1/eu-west-1' }],
  ['`Cluster` would lose its deletion protection: a', set('Cluster', { DeletionProtection: false })],
  ['`Cluster` would lose its deletion protection: a', set('Cluster', { DeletionProtection: undefined })],
  ['The stack would lose its termination protection', () => {}, { terminationProtection: false }],
])('warns first: %s', (loss, change, more = {}) => {
  const report = reportOn(change, more);
  expect(report).toMatch(/^## [^\n]+\n\n> \[!CAUTION\]\n/);
  expect(report).toContain(`\n> - **WalletEu**: ${loss}`);
});

it('does not warn about changes in place, or resources that can be recreated', () => {
  expect(reportOn(() => {})).toBe('## Changes to the stacks\n\nNo stack changes.');
  const inPlace = reportOn(set('Cluster', { Port: 5433 }));
  expect(inPlace).toMatch(/<details><summary>1 differences<.*\[-\] 5432.*\[\+\] 5433.*<\/details>/s);
  for (const report of [inPlace, reportOn(set('Password', { Name: 'b' }))])
    expect(report).not.toContain('[!CAUTION]');
});

it('names the functions that only have new code, and the removed and new stacks', () => {
  const Code = { S3Key: `${hash('b')}.zip` };
  expect(reportOn(set('Handler', { Code }))).toMatch(/### WalletEu\n\nNew code in: `Handler`\n$/);
  expect(reportOn(set('Handler', { Code, MemorySize: 512 }))).toContain('[+] bbbbbbbb….zip');
  const report = formatReport({ Uae: stack(resources) }, { Sg: stack(resources) });
  expect(report).toContain('### Uae\n\nNo longer in the app.');
  expect(report).toContain('### Sg\n\nA new stack in aws://1/eu-central-1, with 8 resources.');
});

/** As CloudFormation returns a template. */
const asDeployed = (Resources: object) => JSON.parse(JSON.stringify({ Resources }).replace('…', '?'));

const withReserve: Change = (all) => Object.assign(all, { Reserve: { Type: 'AWS::EC2::EIP', ...retained } });

it.each<[string | undefined, Change, object?, boolean?]>([
  [undefined, (all) => Object.assign(all, { New: { Type: 'AWS::SNS::Topic' } })],
  ['Before this release, the stack did not have the last good template.', () => {}, {}],
  ['`Cluster` (AWS::RDS::DBCluster) would be replaced', set('Cluster', { SnapshotIdentifier: 'x' })],
  ['has engine version 17.10 and cannot be downgraded to 17.9.', set('Cluster', { EngineVersion: '17.10' })],
  // A new reserve address, only while webhooks come from it.
  [undefined, withReserve],
  ['`Reserve` (AWS::EC2::EIP) would be removed', withReserve, resources, true],
])('a rollback has the obstacle: %s', (reason, change, replaced = resources, usesReserve = false) => {
  const obstacles = obstaclesTo(stack(resources), changed(change), asDeployed(replaced), usesReserve);
  expect(obstacles).toEqual(reason ? [expect.stringContaining(reason)] : []);
});
