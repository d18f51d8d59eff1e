import { environments } from '../../lib/environments';
import { first, newcomer, withDataApi } from '../support/rows';
import {
  type Baseline,
  lossesOfApp,
  lossesOfStack,
  readBaseline,
  stateOf,
  synthesizeTemplates,
} from '../support/state-baseline';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const baseline = readBaseline();
const templates = synthesizeTemplates();
const names = environments.map(({ name }) => name);

it('no stack replaces or releases its state', () => {
  expect(lossesOfApp(baseline, names, templates)).toEqual([]);
});

it.each(environments.filter(({ name }) => baseline[name]))(
  'the baseline lists address, cluster, keys and queues of $name',
  ({ name, stackId }) => {
    const types = Object.values(baseline[name]?.[stackId] ?? {}).map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(['AWS::EC2::EIP', 'AWS::RDS::DBCluster', 'AWS::KMS::Key', 'AWS::SQS::Queue']),
    );
  },
);

describe('a change of the table', () => {
  const { name, stackId } = first;
  const state: Baseline = { [name]: { [stackId]: stateOf(templates[stackId]) } };

  it('must not rename a stack, or empty it by renaming its environment', () => {
    expect(lossesOfApp(state, names, { WalletRenamed: templates[stackId] })).toEqual([
      expect.stringContaining(`${stackId} of ${name} is gone, or has another name`),
    ]);
    const emptied = lossesOfApp(state, ['renamed'], { [stackId]: { Resources: {} } });
    expect(emptied).toHaveLength(Object.keys(state[name]?.[stackId] ?? {}).length);
  });

  it('may add or remove an environment', () => {
    const { [stackId]: _, ...others } = templates;
    expect(lossesOfApp(state, names.slice(1), others)).toEqual([]);
    expect(lossesOfApp(state, [...names, newcomer.name], templates)).toEqual([]);
  });
});

describe('a change of a template', () => {
  const template = templates[withDataApi.stackId];
  const losses = (change: (resources: Json) => unknown) => {
    const changed = structuredClone(template);
    change(changed.Resources);
    return lossesOfStack(stateOf(template), changed);
  };

  it.each<[string, string, object]>([
    ['DatabaseCluster', 'be replaced: DatabaseName was "wallet" and is "purse"', { DatabaseName: 'purse' }],
    [
      'DatabaseCluster',
      'be replaced: SnapshotIdentifier was left out and is "x"',
      { SnapshotIdentifier: 'x' },
    ],
    ['WebhookSecretsKey', 'be replaced: KeySpec was "HMAC_256" and is "HMAC_384"', { KeySpec: 'HMAC_384' }],
    ['DatabaseKey', 'be replaced: MultiRegion was left out and is true', { MultiRegion: true }],
    ['WebhookDeliveryQueue', 'be replaced: QueueName was left out and is "x"', { QueueName: 'x' }],
    [
      'WebhookOriginElasticIp',
      'be replaced: PublicIpv4Pool was left out and is "x"',
      { PublicIpv4Pool: 'x' },
    ],
  ])('must not replace %s: it would %s', (id, loss, properties) => {
    const found = losses((resources) => Object.assign(resources[id].Properties, properties));
    expect(found).toEqual([expect.stringMatching(`^\`${id}\` .* (would|may) ${loss}`)]);
  });

  it('must not change a logical id, drop a retention, or add state that the baseline lacks', () => {
    const found = losses((resources) => {
      resources.Renamed = resources.WebhookEventsQueue;
      delete resources.WebhookEventsQueue;
      resources.WebhookOriginElasticIp.DeletionPolicy = 'Delete';
    });
    expect(found).toEqual([
      expect.stringContaining('`WebhookOriginElasticIp` (AWS::EC2::EIP) would no longer be retained'),
      expect.stringContaining('`WebhookEventsQueue` (AWS::SQS::Queue) would be removed from the stack'),
      expect.stringContaining('`Renamed` is new'),
    ]);
  });

  it('may change properties in place, and database access: role passwords can be regenerated', () => {
    const inPlace = losses(({ DatabaseCluster, WebhookDeliveryQueue, WebhookOriginElasticIp }) => {
      DatabaseCluster.Properties.BackupRetentionPeriod = 30;
      WebhookDeliveryQueue.Properties.VisibilityTimeout = 900;
      WebhookOriginElasticIp.Properties.Tags = [];
    });
    expect(inPlace).toEqual([]);
    const direct = synthesizeTemplates([{ ...withDataApi, databaseAccess: 'direct' }])[withDataApi.stackId];
    expect(lossesOfStack(stateOf(template), direct)).toEqual([]);
  });
});
