import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, promoted } from '../../lib/environment/schema';
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
const { name, stackId, region } = withStandby;
const { databaseDirectory } = state.environment(name);
const adoptedElasticIp = { allocationId: 'eipalloc-0123456789abcdef0', address: '203.0.113.9' };
const keys = keysIn(region, withStandby, LOCAL_ACCOUNT_ID);
const standby = { ...withStandby.standby, keys, adoptedElasticIp };
/** All webhooks of this machine come from this address. */
const formerAddress = '127.0.0.1';
const rows: Readonly<Record<'before' | 'after', Environment>> = {
  before: { ...withStandby, standby },
  after: { ...promoted({ ...withStandby, standby }), formerAddress },
};
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

it('a promotion keeps data, tokens and secrets, and swaps the address and its reserve', async () => {
  let local = await start('before');
  const seeds = [1, 2].map(() => local.walletJson<Organization>(name, 'seed'));
  const [first, second] = (await Promise.all(seeds)) as [Organization, Organization];
  const { organizationId } = second;
  const options = ['--organization', organizationId, '--url', receiver.url('promotion')];
  const { secret } = await local.walletJson<{ secret: string }>(name, 'webhook', 'add', ...options);
  const origins = async () => {
    const response = await fetch(`${local.outputs(name).ApiBaseUrl}/webhook-origins`);
    return (await response.json()) as { readonly addresses: string[]; readonly reserve: string[] };
  };
  const before = await origins();
  const oldTokens = await walletDeletion(local, name, first);
  await stop();

  local = await start('after');
  const arns = ['WebhookSecretsKeyArn', 'TokenSigningKeyArn'].map((output) => local.outputs(name)[output]);
  const replicas = keysIn(standby.region, withStandby, LOCAL_ACCOUNT_ID);
  expect(arns).toEqual([replicas.webhookSecrets, Object.values(replicas.accessToken ?? {})[0]]);
  const deletion = async (wire: typeof oldTokens) =>
    (await send(local.outputs(name).ApiBaseUrl ?? '', wire)).status;
  expect(await deletion(oldTokens)).toBe(200);
  expect(await deletion(await walletDeletion(local, name, second))).toBe(200);

  const event = ['--kind', 'wallet.created', '--data', '{}'];
  await local.wallet(name, 'send-event', '--organization', organizationId, ...event);
  const [delivery] = await receiver.received('promotion', 1);
  if (delivery) verifyDelivery(delivery, secret, 'svc-signature');
  expect(await origins()).toMatchObject({ addresses: before.reserve, reserve: before.addresses });
  await local.wallet(name, 'smoke');
});
