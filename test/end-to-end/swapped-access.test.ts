import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removePostgres } from '../../local/postgres/postgres';
import { type RunningEnvironments, startEnvironments } from '../../local/start';
import { claimStateFolder } from '../../local/state/claim';
import { stateFolder } from '../../local/state/state';
import { send, walletDeletion } from '../support/api';
import { type LocalEnvironment, openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { copyNewCluster } from '../support/postgres';
import { swappedEnvironments as swapped } from '../support/swapped-app';
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from '../support/webhook-receiver';

const state = stateFolder(mkdtempSync(join(tmpdir(), 'wallet-swapped-')));
const problems: string[] = [];
let running: RunningEnvironments;
let local: LocalEnvironment;
let receiver: WebhookReceiver;

beforeAll(async () => {
  claimStateFolder(state);
  for (const row of swapped) await copyNewCluster(state.environment(row).databaseDirectory);
  running = await startEnvironments({
    state,
    environments: swapped,
    app: join(__dirname, '../support/swapped-app.ts'),
    ports: Object.fromEntries(swapped.map(({ name }) => [name, 0])),
    dashboardPorts: {},
    fresh: false,
    signal: new AbortController().signal,
    onStep: () => undefined,
    onProblem: (line) => problems.push(line),
  });
  local = openLocalEnvironment(state.directory);
  receiver = await startWebhookReceiver();
}, 90_000);

afterAll(async () => {
  await receiver?.stop();
  await running?.stop();
  await Promise.all(swapped.map((row) => removePostgres(state.environment(row).databaseDirectory)));
  rmSync(state.directory, { recursive: true, force: true });
});

/** 2026-11-20, as RFC 9745 writes it: https://www.rfc-editor.org/rfc/rfc9745#section-2.1 */
const since = '@1795132800';

describe.each(swapped)('in $name, with access $databaseAccess', ({ name }) => {
  it('a deletion is carried out once, and what it needs is asked for', async () => {
    const seeded = await local.walletJson<Organization>(name, 'seed');
    const deletion = async (callerId: string) => {
      const request = await walletDeletion(local, name, seeded, callerId);
      const { status, headers, body } = await send(local.outputs(name).ApiBaseUrl ?? '', request);
      expect(headers.deprecation).toBe(since);
      return [status, body.code];
    };
    expect(await deletion(seeded.endUserId)).toEqual([403, 'caller_kind_not_allowed']);
    expect(await deletion(seeded.callerId)).toEqual([200, undefined]);
    expect(await deletion(seeded.serviceAccountId)).toEqual([404, 'user_group_not_found']);
    expect(problems).toEqual([]);
  });

  it('an event becomes a webhook, and its attempt is written down', async () => {
    const { organizationId } = await local.walletJson<Organization>(name, 'seed');
    const url = receiver.url(organizationId);
    const organization = ['--organization', organizationId];
    const { secret } = await local.walletJson<{ secret: string }>(
      name,
      ...['webhook', 'add', ...organization, '--url', url],
    );
    const event = ['--kind', 'wallet.created', '--data', '{}'];
    const { eventId } = await local.walletJson<{ eventId: string }>(
      name,
      ...['send-event', ...organization, ...event],
    );
    const [delivery] = await receiver.received(organizationId, 1);
    if (!delivery) throw new Error('Nothing came.');
    verifyDelivery(delivery, secret, 'webhook-signature');
    let attempts: unknown[] = [];
    for (const deadline = Date.now() + 10_000; attempts.length === 0 && Date.now() < deadline; ) {
      attempts = await local.walletJson<unknown[]>(name, 'deliveries', '--event', eventId);
    }
    expect(attempts).toEqual([expect.objectContaining({ outcome: 'delivered' })]);
  });
});
