import { environments } from '../../lib/environments';
import { first, newcomer, withDataApi, withDirectAccess } from '../support/rows';
import { changesOf, readBaseline, stateOf, stateOfApp, synthesizeTemplates } from '../support/state-baseline';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const baseline = readBaseline();
const templates = synthesizeTemplates();

it('no stack replaces or releases its state, or adds state that the baseline lacks (npx tsx test/support/state-baseline.ts)', () => {
  expect(changesOf(baseline, stateOfApp(templates))).toEqual({ lost: [], added: [] });
});

it.each(environments.filter(({ name }) => baseline.some((line) => line.startsWith(`${name} `))))(
  'the baseline lists address, cluster, keys and queues of $name',
  ({ name, stackId }) => {
    for (const type of ['EC2::EIP', 'RDS::DBCluster', 'KMS::Key', 'SQS::Queue']) {
      expect(baseline.join('\n')).toMatch(new RegExp(`^${name} ${stackId} \\w+ AWS::${type} `, 'm'));
    }
  },
);

describe('a change of the table', () => {
  const { stackId } = first;
  const state = stateOfApp(templates);
  const ofFirst = state.filter((line) => line.split(' ')[1] === stackId);

  it('must not rename a stack, or the environment of a stack', () => {
    const stackRenamed = state.map((line) => line.replace(` ${stackId} `, ' WalletRenamed '));
    expect(changesOf(state, stackRenamed)).toEqual({ lost: ofFirst, added: [] });
    const renamed = ofFirst.map((line) => line.replace(/^\S+/, 'renamed'));
    expect(changesOf(ofFirst, renamed, [])).toEqual({ lost: ofFirst, added: renamed });
  });

  it('may add or remove an environment', () => {
    const others = state.filter((line) => !line.startsWith(`${first.name} `));
    expect(changesOf(state, others, environments.slice(1))).toEqual({ lost: [], added: [] });
    expect(changesOf(others, state, [...environments, newcomer])).toEqual({ lost: [], added: [] });
  });

  it('may change the database access, which changes no state but the passwords of roles', () => {
    const resources = ({ stackId }: { readonly stackId: string }) =>
      stateOf(templates[stackId])
        .map((line) => line.split(' ', 2).join(' '))
        .filter((line) => !line.startsWith('DatabaseGlobalCluster'));
    expect(resources(withDataApi)).toEqual(resources(withDirectAccess));
  });
});

describe('a change of a template', () => {
  const template = templates[withDataApi.stackId];
  const lostBy = (change: (resources: Json) => unknown) => {
    const changed = structuredClone(template);
    change(changed.Resources);
    const after = stateOf(changed);
    return stateOf(template)
      .filter((line) => !after.includes(line))
      .map((line) => line.split(' ')[0]);
  };

  it.each<[id: string, change: (resource: Json) => unknown]>([
    ['DatabaseCluster', ({ Properties }) => Object.assign(Properties, { SnapshotIdentifier: 'x' })],
    ['WebhookSecretsKey', ({ Properties }) => Object.assign(Properties, { KeySpec: 'HMAC_384' })],
    ['WebhookEventsQueue', (resource) => Object.assign(resource, { Type: 'AWS::SNS::Topic' })],
    ['WebhookOriginElasticIp', (resource) => Object.assign(resource, { DeletionPolicy: 'Delete' })],
    ['WebhookOriginElasticIp', (resource) => delete resource.UpdateReplacePolicy],
  ])('must not replace or release %s', (id, change) => {
    expect(lostBy((resources) => change(resources[id]))).toEqual([id]);
  });

  it('may change properties in place', () => {
    const inPlace = lostBy(({ DatabaseCluster, WebhookDeliveryQueue }) => {
      DatabaseCluster.Properties.BackupRetentionPeriod = 30;
      WebhookDeliveryQueue.Properties.VisibilityTimeout = 900;
    });
    expect(inPlace).toEqual([]);
  });
});
