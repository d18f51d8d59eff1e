import { statefulTypes } from '../../lib/checks/stateful-types';
import { environments } from '../../lib/environments';
import { environmentLike } from '../support/stacks';
import { lossesOf, readBaseline, stateOf, synthesizeTemplates } from '../support/state-baseline';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

const baseline = readBaseline();
const templates = synthesizeTemplates();

it.each(Object.keys(baseline))('%s replaces nothing that holds state, and lets go of none', (stack) => {
  const template = templates[stack];
  if (template === undefined) {
    throw new Error(
      `${stack} is gone: its state would be left behind. Take it out of the baseline if it is meant.`,
    );
  }
  expect(lossesOf(baseline[stack] ?? {}, template)).toEqual([]);
});

it('holds every stack, and address, cluster, keys and queues of those that serve', () => {
  expect(Object.keys(baseline)).toEqual(expect.arrayContaining(Object.keys(templates)));
  for (const { stackId } of environments) {
    const types = Object.values(baseline[stackId] ?? {}).map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(['AWS::EC2::EIP', 'AWS::RDS::DBCluster', 'AWS::KMS::Key', 'AWS::SQS::Queue']),
    );
  }
});

describe('the guard', () => {
  const losses = (change: (resources: Json) => unknown): string[] => {
    const template = JSON.parse(JSON.stringify(templates.WalletEu));
    change(template.Resources);
    return lossesOf(baseline.WalletEu ?? {}, template);
  };

  it.each([
    ['a database of another name', 'DatabaseCluster', { DatabaseName: 'purse' }, '"wallet" and is "purse"'],
    [
      'a cluster without encryption',
      'DatabaseCluster',
      { StorageEncrypted: undefined },
      'true and is left out',
    ],
    ['a cluster from a snapshot', 'DatabaseCluster', { SnapshotIdentifier: 'x' }, 'left out and is "x"'],
    ['a key of another kind', 'WebhookSecretsKey', { KeySpec: 'HMAC_384' }, '"HMAC_256" and is "HMAC_384"'],
    ['a multi-region key', 'DatabaseKey', { MultiRegion: true }, 'left out and is true'],
    ['a queue that gets a name', 'WebhookDeliveryQueue', { QueueName: 'x' }, 'left out and is "x"'],
    ['a queue that becomes a FIFO queue', 'WebhookEventsQueue', { FifoQueue: true }, 'left out and is true'],
    ['a secret that gets a name', 'DatabaseMasterSecret', { Name: 'x' }, 'left out and is "x"'],
    [
      'an address from another pool',
      'WebhookOriginElasticIp',
      { PublicIpv4Pool: 'x' },
      'left out and is "x"',
    ],
  ])('refuses %s', (_, logicalId, properties, change) => {
    const [name] = Object.keys(properties);
    expect(losses((resources) => Object.assign(resources[logicalId].Properties, properties))).toEqual([
      expect.stringMatching(`^${logicalId} \\(AWS::\\w+::\\w+\\) would be replaced: ${name} was ${change}`),
    ]);
  });

  it.each<[string, string, (resources: Json) => unknown]>([
    [
      'another logical id of the address',
      'WebhookOriginElasticIp (AWS::EC2::EIP) is gone, or has another logical id',
      (resources) => {
        resources.Renamed = resources.WebhookOriginElasticIp;
        delete resources.WebhookOriginElasticIp;
      },
    ],
    [
      'another type',
      'WebhookEventsQueue (AWS::SQS::Queue) is of type AWS::SNS::Topic now',
      (resources) => Object.assign(resources.WebhookEventsQueue, { Type: 'AWS::SNS::Topic' }),
    ],
    [
      'an address that goes with its stack',
      'WebhookOriginElasticIp (AWS::EC2::EIP) is no longer kept: DeletionPolicy is Delete',
      (resources) => Object.assign(resources.WebhookOriginElasticIp, { DeletionPolicy: 'Delete' }),
    ],
    [
      'state that the baseline does not know',
      'Ledger (AWS::SQS::Queue) is new. Hold it too: npx tsx test/support/state-baseline.ts',
      (resources) =>
        Object.assign(resources, { Ledger: { Type: 'AWS::SQS::Queue', DeletionPolicy: 'Retain' } }),
    ],
  ])('refuses %s', (_, loss, change) => {
    expect(losses(change)).toContainEqual(expect.stringContaining(loss));
  });

  it.each(Object.entries(statefulTypes))('says what to do about a %s', (type, { remedy, fixed }) => {
    const held = { One: { type, fixed: { [fixed[0] ?? '']: 'former' } } };
    const template = { Resources: { One: { Type: type, DeletionPolicy: 'Retain' } } };
    expect(lossesOf(held, template)).toEqual([expect.stringContaining(remedy)]);
  });

  it('refuses to let go of the address for another one without a word in the baseline', () => {
    const adoptedElasticIp = { allocationId: 'eipalloc-0123456789abcdef0', address: '203.0.113.7' };
    const { WalletEu } = synthesizeTemplates([environmentLike('eu', { adoptedElasticIp })]);
    expect(lossesOf(baseline.WalletEu ?? {}, WalletEu)).toEqual([
      expect.stringContaining('"Keeping the address" in docs/runbook.md'),
    ]);
  });

  it('has nothing against changes in place', () => {
    const changes = (resources: Json) => {
      Object.assign(resources.DatabaseCluster.Properties, {
        BackupRetentionPeriod: 30,
        EngineVersion: '17.10',
        ServerlessV2ScalingConfiguration: { MinCapacity: 2, MaxCapacity: 64 },
      });
      resources.WebhookDeliveryQueue.Properties.VisibilityTimeout = 900;
      resources.WebhookOriginElasticIp.Properties.Tags = [];
      resources.DatabaseKey.Properties.Description = 'of the database';
    };
    expect(losses(changes)).toEqual([]);
  });

  it('has nothing against the other way to the database: the passwords of roles can be generated again', () => {
    const changed = environmentLike('eu', { databaseAccess: 'direct' });
    const { WalletEu } = synthesizeTemplates([changed]);
    expect(lossesOf(baseline.WalletEu ?? {}, WalletEu)).toEqual([]);
    expect(Object.keys(stateOf(WalletEu))).toEqual(expect.arrayContaining(['DatabaseMasterSecret']));
  });
});
