import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, inForce, promoted } from '../../lib/environment/schema';
import { createApp } from '../../lib/environments-app';
import { LOCAL_ACCOUNT_ID } from '../../local/assembly/manifest';
import { removePostgres } from '../../local/postgres/postgres';
import { type Local, startLocal } from '../../local/start';
import { openState } from '../../local/state/lock';
import { send, walletDeletion } from '../support/api';
import { type LocalEnvironment, openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { startInProcess } from '../support/own-environments';
import { copyNewCluster } from '../support/postgres';
import { keysIn, withStandby } from '../support/rows';
import { startWebhookReceiver, verifyDelivery } from '../support/webhook-receiver';

const state = openState(mkdtempSync(join(tmpdir(), 'wallet-promotion-')));
const { name, stackId, region, zones, vpcCidr } = withStandby;
const { databaseDirectory } = state.environment(name);
const adoptedElasticIp = { allocationId: 'eipalloc-0123456789abcdef0', address: '203.0.113.9' };
const keys = keysIn(region, withStandby, LOCAL_ACCOUNT_ID);
const { keys: _, ...withoutKeys } = { ...withStandby.standby, adoptedElasticIp };
const standby = { ...withoutKeys, keys };
/** All webhooks of this machine come from this address. */
const row = { ...withStandby, originAddress: '127.0.0.1' };
const promotion = promoted({ ...row, standby });
const newStandby = {
  ...{ stackId: `${stackId}Again`, region, zones, vpcCidr, adoptedElasticIp },
  globalClusterIdentifier: `${standby.globalClusterIdentifier}-again`,
  adoptedKeys: keys,
};
const rows = {
  before: { ...row, standby },
  withoutKeys: inForce({ ...row, standby: { ...withoutKeys, serves: true } }),
  after: inForce({ ...row, standby: { ...standby, serves: true } }),
  returned: inForce({ ...promotion, standby: { ...newStandby, serves: true } }),
} satisfies Readonly<Record<string, Environment>>;
let running: Local | undefined;
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>;

async function start(app: keyof typeof rows): Promise<LocalEnvironment> {
  const assembly = join(state.directory, app);
  // Fails with a finding of the residency rules.
  createApp({ outdir: assembly, environments: [rows[app]], validateTemplates: false }).synth();
  const log = { step: () => undefined, problem: () => undefined };
  running = await startLocal({ assembly, state, ports: 'any', log, runtime: startInProcess });
  // The command line reads the row that is not edited here: by its stack.
  const outputs = JSON.parse(readFileSync(state.outputsFile, 'utf8'));
  writeFileSync(state.outputsFile, JSON.stringify({ [stackId]: outputs[rows[app].stackId] }));
  return openLocalEnvironment(state.directory);
}

async function stop(): Promise<void> {
  await running?.stop();
  running = undefined;
}

beforeAll(async () => {
  await copyNewCluster(databaseDirectory);
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await stop();
  await receiver.stop();
  await removePostgres(databaseDirectory);
  rmSync(state.directory, { recursive: true, force: true });
});

it('a promotion and a return keep data, tokens and secrets, if the row has recorded the keys', async () => {
  let local = await start('before');
  const seeds = [1, 2, 3].map(() => local.walletJson<Organization>(name, 'seed'));
  const [first, second, third] = (await Promise.all(seeds)) as [Organization, Organization, Organization];
  const { organizationId } = second;
  const options = ['--organization', organizationId, '--url', receiver.url('promotion')];
  const { secret } = await local.walletJson<{ secret: string }>(name, 'webhook', 'add', ...options);
  const origins = async () => {
    const response = await fetch(`${local.outputs(name).ApiBaseUrl}/webhook-origins`);
    return (await response.json()) as { readonly addresses: string[]; readonly reserve: string[] };
  };
  const before = await origins();
  const [firstDeletion, thirdDeletion] = await Promise.all([
    walletDeletion(local, name, first),
    walletDeletion(local, name, third),
  ]);
  const deletion = async (wire: typeof firstDeletion) =>
    (await send(local.outputs(name).ApiBaseUrl ?? '', wire)).status;
  let deliveries = 0;
  /** Sends an event, and verifies its delivery with the secret from before. */
  const verifyNext = async () => {
    const event = ['--kind', 'wallet.created', '--data', '{}'];
    await local.wallet(name, 'send-event', '--organization', organizationId, ...event);
    deliveries += 1;
    const delivery = (await receiver.received('promotion', deliveries)).at(-1);
    verifyDelivery(delivery as NonNullable<typeof delivery>, secret, 'svc-signature');
  };
  await stop();

  local = await start('withoutKeys');
  expect(await deletion(firstDeletion)).toBe(401);
  await expect(verifyNext()).rejects.toThrow('No matching signature found');
  await stop();

  local = await start('after');
  const arns = ['WebhookSecretsKeyArn', 'TokenSigningKeyArn'].map((output) => local.outputs(name)[output]);
  const replicas = keysIn(standby.region, withStandby, LOCAL_ACCOUNT_ID);
  expect(arns).toEqual([replicas.webhookSecrets, Object.values(replicas.accessToken ?? {})[0]]);
  expect(await deletion(firstDeletion)).toBe(200);
  expect(await deletion(await walletDeletion(local, name, second))).toBe(200);
  await verifyNext();
  expect(await origins()).toMatchObject({ addresses: before.reserve, reserve: before.addresses });
  await local.wallet(name, 'smoke');
  await stop();

  local = await start('returned');
  expect(local.outputs(name).WebhookSecretsKeyArn).toBe(keys.webhookSecrets);
  expect(await deletion(thirdDeletion)).toBe(200);
  await verifyNext();
});
