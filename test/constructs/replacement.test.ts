import { statefulTypes } from '../../domain/stateful-types';
import { environments } from '../../lib/environments';
import { first, newcomer, withDataApi } from '../support/rows';
import {
  type Baseline,
  lossesOf,
  lossesOfApp,
  readBaseline,
  stateOf,
  synthesizeTemplates,
} from '../support/state-baseline';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

const baseline = readBaseline();
const templates = synthesizeTemplates();
const names = environments.map(({ name }) => name);

it('no stack replaces anything that holds state, or lets go of it', () => {
  expect(lossesOfApp(baseline, names, templates)).toEqual([]);
});

it('holds address, cluster, keys and queues of the stacks that serve', () => {
  const held = environments.filter(({ name }) => baseline[name]);
  expect(held).not.toEqual([]);
  for (const { name, stackId } of held) {
    const types = Object.values(baseline[name]?.[stackId] ?? {}).map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(['AWS::EC2::EIP', 'AWS::RDS::DBCluster', 'AWS::KMS::Key', 'AWS::SQS::Queue']),
    );
  }
});

describe('the guard, when the table changes', () => {
  const { name, stackId } = first;
  const state = stateOf(templates[stackId]);
  const held: Baseline = { [name]: { [stackId]: state } };
  const renamed = { WalletRenamed: templates[stackId] };

  it('refuses another name of the stack, whose state would stay behind', () => {
    expect(lossesOfApp(held, names, renamed)).toEqual([
      expect.stringContaining(`${stackId} of ${name} is gone, or has another name`),
    ]);
  });

  it('holds the stack under another name of the environment', () => {
    const changed = { [stackId]: { Resources: {} } };
    expect(lossesOfApp(held, ['renamed'], changed)).toHaveLength(Object.keys(state).length);
  });

  it('has nothing against an environment that comes or goes', () => {
    const { [stackId]: _, ...others } = templates;
    expect(lossesOfApp(held, names.slice(1), others)).toEqual([]);
    expect(lossesOfApp(held, [...names, newcomer.name], templates)).toEqual([]);
  });
});

describe('the guard', () => {
  const { stackId } = withDataApi;
  const state = stateOf(templates[stackId]);
  const losses = (change: (resources: Json) => unknown): string[] => {
    const template = JSON.parse(JSON.stringify(templates[stackId]));
    change(template.Resources);
    return lossesOf(state, template);
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
    const adopting = synthesizeTemplates([{ ...withDataApi, adoptedElasticIp }]);
    expect(lossesOf(state, adopting[stackId])).toEqual([
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
    const { [stackId]: changed } = synthesizeTemplates([{ ...withDataApi, databaseAccess: 'direct' }]);
    expect(lossesOf(state, changed)).toEqual([]);
    expect(Object.keys(stateOf(changed))).toEqual(expect.arrayContaining(['DatabaseMasterSecret']));
  });
});
