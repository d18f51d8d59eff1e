import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, inForce, promoted, type SharedKeys } from '../../lib/environment/schema';
import { createApp } from '../../lib/environments-app';
import { LOCAL_ACCOUNT_ID } from '../../local/assembly/manifest';
import { removePostgres } from '../../local/postgres/postgres';
import { type Local, startLocal } from '../../local/start';
import { openState } from '../../local/state/lock';
import { send, type WireRequest, walletDeletion } from '../support/api';
import { startInProcess } from '../support/in-process';
import { type LocalEnvironment, openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { copyNewCluster, copyRunning } from '../support/postgres';
import { keysIn, restored as restoredRow, withStandby } from '../support/rows';
import { startWebhookReceiver, verifyDelivery } from '../support/webhook-receiver';

/**
 * One environment, which runs each later shape of its row: the runbook's procedures, as far as this machine has them. Apart from the
 * environments that other tests share, because each deployment restarts it.
 */
const state = openState(mkdtempSync(join(tmpdir(), 'wallet-procedures-')));
const { name, stackId, region, zones, vpcCidr, signingKeyLabels } = withStandby;
const folder = state.environment(name);
const former = folder.databaseDirectory;
const snapshot = `arn:aws:rds:${region}:${LOCAL_ACCOUNT_ID}:cluster-snapshot:before-the-mistake`;
const restored = `${former}-${snapshot.replace(/\W/g, '-')}`;
const adoptedElasticIp = { allocationId: 'eipalloc-0123456789abcdef0', address: '203.0.113.9' };

const [oldLabel = ''] = signingKeyLabels.accessToken;
const newLabel = '2027-11';
const labelled = (...labels: readonly string[]) => ({
  ...withStandby,
  signingKeyLabels: { accessToken: labels, userAction: labels },
  // All webhooks of this machine come from this address.
  originAddress: '127.0.0.1',
});
function keysOf(labels: readonly string[], of = region): SharedKeys {
  const { webhookSecrets = '', ...all } = keysIn(of, labelled(oldLabel, newLabel), LOCAL_ACCOUNT_ID);
  const only = (keys: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(labels.map((label) => [label, keys[label] ?? '']));
  return { webhookSecrets, accessToken: only(all.accessToken), userAction: only(all.userAction) };
}
const withoutKeys = { ...withStandby.standby, adoptedElasticIp };
const withKeys = (...labels: readonly string[]) => ({
  ...labelled(...labels),
  standby: { ...withoutKeys, keys: keysOf(labels) },
});
const rotating = withKeys(newLabel, oldLabel);
const returned = inForce({
  ...promoted(withKeys(newLabel)),
  standby: {
    stackId: `${stackId}Again`,
    region,
    zones,
    vpcCidr,
    adoptedElasticIp,
    serves: true,
    globalClusterIdentifier: `${withoutKeys.globalClusterIdentifier}-again`,
    adoptedKeys: keysOf([newLabel]),
  },
});
const shapes = {
  first: withKeys(oldLabel),
  promoted: inForce({ ...rotating, standby: { ...rotating.standby, serves: true } }),
  returned: restoredRow(returned, { snapshot }),
} satisfies Readonly<Record<string, Environment>>;
let running: Local | undefined;
let local: LocalEnvironment;
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>;

/** Deploys a shape of the row. Fails with a finding of the residency rules. */
async function deploy(shape: keyof typeof shapes): Promise<void> {
  const assembly = join(state.directory, shape);
  if (!existsSync(assembly))
    createApp({ outdir: assembly, environments: [shapes[shape]], validateTemplates: false }).synth();
  await running?.stop();
  const log = { step: () => undefined, problem: () => undefined };
  running = await startLocal({ assembly, state, ports: 'any', log, runtime: startInProcess });
  // The command line reads the row of the first day: by its stack.
  const outputs = JSON.parse(readFileSync(state.outputsFile, 'utf8'));
  writeFileSync(state.outputsFile, JSON.stringify({ [stackId]: outputs[shapes[shape].stackId] }));
  local = openLocalEnvironment(state.directory);
}

beforeAll(async () => {
  await copyNewCluster(former);
  receiver = await startWebhookReceiver();
  await deploy('first');
});
afterAll(async () => {
  await running?.stop();
  await receiver.stop();
  for (const directory of [former, restored]) await removePostgres(directory);
  rmSync(state.directory, { recursive: true, force: true });
});

const seed = () => local.walletJson<Organization>(name, 'seed');
const deletion = async (wire: WireRequest) => (await send(local.outputs(name).ApiBaseUrl ?? '', wire)).status;

it('a promotion, and a return that restores, keep secrets, tokens of recorded keys and data, and undo a deletion', async () => {
  const [one, two, three, mistaken] = [await seed(), await seed(), await seed(), await seed()];
  const { organizationId } = two;
  const options = ['--organization', organizationId, '--url', receiver.url('procedures')];
  const { secret } = await local.walletJson<{ secret: string }>(name, 'webhook', 'add', ...options);
  const origins = async () => {
    const response = await fetch(`${local.outputs(name).ApiBaseUrl}/webhook-origins`);
    return (await response.json()) as { readonly addresses: string[]; readonly reserve: string[] };
  };
  const before = await origins();
  const ofOldKey = await walletDeletion(local, name, one);
  const outdated = await walletDeletion(local, name, two);
  let deliveries = 0;
  const verifyNext = async () => {
    const event = ['--kind', 'wallet.created', '--data', '{}'];
    await local.wallet(name, 'send-event', '--organization', organizationId, ...event);
    deliveries += 1;
    const delivery = (await receiver.received('procedures', deliveries)).at(-1);
    verifyDelivery(delivery as NonNullable<typeof delivery>, secret, 'svc-signature');
  };

  // With a rotation of the signing keys, whose former one is still accepted.
  await deploy('promoted');
  const arns = ['WebhookSecretsKeyArn', 'TokenSigningKeyArn'].map((output) => local.outputs(name)[output]);
  const replicas = keysOf([newLabel], withoutKeys.region);
  expect(arns).toEqual([replicas.webhookSecrets, Object.values(replicas.accessToken ?? {})[0]]);
  expect(await deletion(ofOldKey)).toBe(200);
  const ofNewKey = await walletDeletion(local, name, three);
  await verifyNext();
  expect(await origins()).toMatchObject({ addresses: before.reserve, reserve: before.addresses });
  await local.wallet(name, 'smoke');

  copyRunning(former, restored);
  const deleteGroup = async () => deletion(await walletDeletion(local, name, mistaken));
  expect([await deleteGroup(), await deleteGroup()]).toEqual([200, 404]);
  // A new password in each secret, the owner's and every role's, which the snapshot does not have.
  const secrets = readFileSync(folder.secretsFile, 'utf8');
  expect(secrets).toContain('\\"password\\":\\"');
  writeFileSync(folder.secretsFile, secrets.replaceAll('\\"password\\":\\"', '$&changed-'));
  await deploy('returned');
  expect(local.outputs(name).WebhookSecretsKeyArn).toBe(keysOf([newLabel]).webhookSecrets);
  expect(existsSync(join(former, 'cluster', 'data', 'PG_VERSION'))).toBe(true);
  expect([await deletion(outdated), await deletion(ofNewKey)]).toEqual([401, 200]);
  await verifyNext();
  // The group exists again, and the audit record of its deletion does not: it is newer than the restore.
  expect(await local.walletJson(name, 'audit', '--group', mistaken.userGroupId)).toEqual([]);
  expect(await deleteGroup()).toBe(200);
  await local.wallet(name, 'smoke');
});
