import { environmentLike } from '../support/stacks';
import {
  lossesOf,
  readBaseline,
  statefulTypes,
  stateOf,
  synthesizeTemplates,
} from '../support/state-baseline';

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
  for (const stack of ['WalletEu', 'WalletUae', 'WalletStaging']) {
    const types = Object.values(baseline[stack] ?? {}).map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(['AWS::EC2::EIP', 'AWS::RDS::DBCluster', 'AWS::KMS::Key', 'AWS::SQS::Queue']),
    );
  }
});

describe('the guard', () => {
  const losses = (change: (resources: Json) => void): string[] => {
    const template = JSON.parse(JSON.stringify(templates.WalletEu));
    change(template.Resources);
    return lossesOf(baseline.WalletEu ?? {}, template);
  };

  it.each<[string, string, (resources: Json) => void]>([
    [
      'a database of another name',
      'DatabaseCluster (AWS::RDS::DBCluster) would be replaced: DatabaseName was "wallet" and is "purse"',
      (resources) => {
        resources.DatabaseCluster.Properties.DatabaseName = 'purse';
      },
    ],
    [
      'a cluster with another key',
      'DatabaseCluster (AWS::RDS::DBCluster) would be replaced: KmsKeyId was',
      (resources) => {
        resources.DatabaseCluster.Properties.KmsKeyId = { Ref: 'AnotherKey' };
      },
    ],
    [
      'a cluster without encryption',
      'StorageEncrypted was true and is left out',
      (resources) => {
        delete resources.DatabaseCluster.Properties.StorageEncrypted;
      },
    ],
    [
      'a cluster that is restored over the old one',
      'SnapshotIdentifier was left out and is "yesterday"',
      (resources) => {
        resources.DatabaseCluster.Properties.SnapshotIdentifier = 'yesterday';
      },
    ],
    [
      'a key of another kind',
      'WebhookSecretsKey (AWS::KMS::Key) would be replaced: KeySpec was "HMAC_256" and is "HMAC_384"',
      (resources) => {
        resources.WebhookSecretsKey.Properties.KeySpec = 'HMAC_384';
      },
    ],
    [
      'a multi-region key',
      'DatabaseKey (AWS::KMS::Key) would be replaced: MultiRegion was left out and is true',
      (resources) => {
        resources.DatabaseKey.Properties.MultiRegion = true;
      },
    ],
    [
      'a queue that gets a name',
      'WebhookDeliveryQueue (AWS::SQS::Queue) would be replaced: QueueName was left out and is "deliveries"',
      (resources) => {
        resources.WebhookDeliveryQueue.Properties.QueueName = 'deliveries';
      },
    ],
    [
      'a queue that becomes a fifo queue',
      'WebhookEventsQueue (AWS::SQS::Queue) would be replaced: FifoQueue was left out and is true',
      (resources) => {
        resources.WebhookEventsQueue.Properties.FifoQueue = true;
      },
    ],
    [
      'a secret that gets a name',
      'DatabaseMasterSecret (AWS::SecretsManager::Secret) would be replaced',
      (resources) => {
        resources.DatabaseMasterSecret.Properties.Name = 'master';
      },
    ],
    [
      'an address from another pool',
      'PublicIpv4Pool was left out and is "ipv4pool-ec2-0123456789abcdef0"',
      (resources) => {
        resources.WebhookOriginElasticIp.Properties.PublicIpv4Pool = 'ipv4pool-ec2-0123456789abcdef0';
      },
    ],
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
      (resources) => {
        resources.WebhookEventsQueue.Type = 'AWS::SNS::Topic';
      },
    ],
    [
      'an address that goes with its stack',
      'WebhookOriginElasticIp (AWS::EC2::EIP) is no longer kept: DeletionPolicy is Delete',
      (resources) => {
        resources.WebhookOriginElasticIp.DeletionPolicy = 'Delete';
      },
    ],
    [
      'state that the baseline does not know',
      'Ledger (AWS::SQS::Queue) is new. Hold it too: npx tsx test/support/state-baseline.ts',
      (resources) => {
        resources.Ledger = { Type: 'AWS::SQS::Queue', DeletionPolicy: 'Retain' };
      },
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

  it('has nothing against the other way to the database: the passwords of roles can be made anew', () => {
    const changed = environmentLike('eu', { databaseAccess: 'direct' });
    const { WalletEu } = synthesizeTemplates([changed]);
    expect(lossesOf(baseline.WalletEu ?? {}, WalletEu)).toEqual([]);
    expect(Object.keys(stateOf(WalletEu))).toEqual(expect.arrayContaining(['DatabaseMasterSecret']));
  });
});
