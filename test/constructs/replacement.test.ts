import { environments } from '../../lib/environments';
import { first, newcomer, withDataApi } from '../support/rows';
import { changesOf, readBaseline, stateOf, stateOfApp, synthesizeTemplates } from './state-baseline';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const baseline = readBaseline();
const templates = synthesizeTemplates();

it('no stack replaces or releases its state, or adds state that the baseline lacks (npx tsx test/constructs/state-baseline.ts)', () => {
  expect(changesOf(baseline, stateOfApp(templates))).toEqual({ lost: [], added: [] });
});

it('an environment may be added or removed, and no stack renamed', () => {
  const state = stateOfApp(templates);
  const others = state.filter((line) => !line.startsWith(`${first.name} `));
  expect(changesOf(state, others, environments.slice(1))).toEqual({ lost: [], added: [] });
  expect(changesOf(others, state, [...environments, newcomer])).toEqual({ lost: [], added: [] });
  const renamed = state.map((line) => line.replace(` ${first.stackId} `, ' WalletRenamed '));
  expect(changesOf(state, renamed)).toEqual({
    lost: state.filter((line) => line.split(' ')[1] === first.stackId),
    added: [],
  });
});

it.each<[id: string, change: (resource: Json) => unknown]>([
  ['DatabaseCluster', ({ Properties }) => Object.assign(Properties, { SnapshotIdentifier: 'x' })],
  ['WebhookEventsQueue', (resource) => Object.assign(resource, { Type: 'AWS::SNS::Topic' })],
  ['WebhookOriginElasticIp', (resource) => Object.assign(resource, { DeletionPolicy: 'Delete' })],
  ['WebhookOriginElasticIp', (resource) => delete resource.UpdateReplacePolicy],
])('a template must not replace or release %s, but may change it in place', (id, change) => {
  const before = templates[withDataApi.stackId];
  const after = structuredClone(before);
  after.Resources.DatabaseCluster.Properties.BackupRetentionPeriod = 30;
  change(after.Resources[id]);
  const lost = stateOf(before).filter((line) => !stateOf(after).includes(line));
  expect(lost).toEqual([expect.stringMatching(`^${id} `)]);
});
