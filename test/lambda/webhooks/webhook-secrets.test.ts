import { createWebhookSecrets } from '../../../lambda/webhooks/webhook-secrets';
import { FakeKms } from '../../support/fake-kms';

let kms: FakeKms;
beforeEach(() => {
  kms = new FakeKms();
});
const create = (keyId = 'key-1') => createWebhookSecrets({ kms: kms.client, keyId });

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
  expect(kms.messages).toEqual(['wh-1.1']);
});

it('caches the 1,000 most recently used', async () => {
  const secrets = create();
  await secrets.secret('wh-used', 1);
  for (let count = 0; count < 1_000; count += 1) {
    await secrets.secret(`wh-${count}`, 1);
    if (count % 100 === 0) await secrets.secret('wh-used', 1);
  }
  kms.messages.splice(0);
  await secrets.secret('wh-used', 1);
  await secrets.secret('wh-999', 1);
  expect(kms.messages).toEqual([]);
  await secrets.secret('wh-0', 1);
  expect(kms.messages).toEqual(['wh-0.1']);
});

it('reports a failure, and calls KMS again afterwards', async () => {
  const secrets = create();
  kms.failing = true;
  expect(await secrets.secret('wh-1', 1)).toEqual({
    ok: false,
    error: { kind: 'secret_unavailable', reason: 'KMSInvalidStateException' },
  });
  kms.failing = false;
  expect((await secrets.secret('wh-1', 1)).ok).toBe(true);
});
