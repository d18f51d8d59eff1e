import type { GenerateMacCommand, KMSClient } from '@aws-sdk/client-kms';
import { createWebhookSecrets } from '../../../lambda/webhooks/webhook-secrets';
import { type MacServer, startMacServer } from '../../support/mac-server';

let server: MacServer;
beforeAll(async () => {
  server = await startMacServer();
});
beforeEach(() => {
  server.messages.splice(0);
  server.failing = false;
});
afterAll(() => server.stop());

const create = (keyId = 'key-1') => createWebhookSecrets({ kms: server.kms, keyId });

it('derives 32 bytes that depend on key, webhook id and version only', async () => {
  const secrets = create();
  const [first, again, version, webhook, key] = await Promise.all([
    secrets.secret('wh-1', 1),
    create().secret('wh-1', 1),
    secrets.secret('wh-1', 2),
    secrets.secret('wh-2', 1),
    create('key-2').secret('wh-1', 1),
  ]);
  expect(first.ok && first.value.length).toBe(32);
  expect(again).toEqual(first);
  const different = [first, version, webhook, key].map(
    (secret) => secret.ok && Buffer.from(secret.value).toString('hex'),
  );
  expect(new Set(different).size).toBe(4);
});

it('calls KMS once for a secret, even for concurrent requests', async () => {
  const secrets = create();
  await Promise.all([secrets.secret('wh-1', 1), secrets.secret('wh-1', 1)]);
  await secrets.secret('wh-1', 1);
  expect(server.messages).toEqual(['wh-1.1']);
});

it('caches the 1,000 most recently used', async () => {
  const messages: string[] = [];
  // A thousand requests of the SDK take seconds.
  const kms = {
    async send({ input }: GenerateMacCommand) {
      messages.push(Buffer.from(input.Message ?? '').toString());
      return { Mac: Buffer.alloc(32) };
    },
  } as unknown as KMSClient;
  const secrets = createWebhookSecrets({ kms, keyId: 'key-1' });
  await secrets.secret('wh-used', 1);
  for (let count = 0; count < 1_000; count += 1) {
    await secrets.secret(`wh-${count}`, 1);
    if (count % 100 === 0) await secrets.secret('wh-used', 1);
  }
  messages.splice(0);
  await secrets.secret('wh-used', 1);
  await secrets.secret('wh-999', 1);
  expect(messages).toEqual([]);
  await secrets.secret('wh-0', 1);
  expect(messages).toEqual(['wh-0.1']);
});

it('reports a failure, and calls KMS again afterwards', async () => {
  const secrets = create();
  server.failing = true;
  expect(await secrets.secret('wh-1', 1)).toEqual({
    ok: false,
    error: { kind: 'secret_unavailable', reason: 'KMSInvalidStateException' },
  });
  server.failing = false;
  expect((await secrets.secret('wh-1', 1)).ok).toBe(true);
});
