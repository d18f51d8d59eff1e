import { createHmac } from 'node:crypto';
import type { GenerateMacCommand, KMSClient } from '@aws-sdk/client-kms';
import { createWebhookSecrets } from '../../../lambda/webhooks/webhook-secrets';

/** The messages of which KMS derived a secret. */
let derived: string[];
let isKmsFailing: boolean;
beforeEach(() => {
  derived = [];
  isKmsFailing = false;
});
/** End-to-end tests use the SDK's client and the local KMS. */
const kms = {
  async send({ input: { KeyId, Message = new Uint8Array() } }: GenerateMacCommand) {
    if (isKmsFailing) throw Object.assign(new Error(), { name: 'KMSInvalidStateException' });
    derived.push(Buffer.from(Message).toString());
    return { Mac: createHmac('sha256', `key ${KeyId}`).update(Message).digest() };
  },
} as unknown as KMSClient;
const create = (keyId = 'key-1') => createWebhookSecrets({ kms, keyId });

it('derives 32 bytes that depend on key, webhook id and version only', async () => {
  const hex = async (keyId: string, webhookId: string, version: number) => {
    const secret = await create(keyId).secret(webhookId, version);
    return secret.ok ? Buffer.from(secret.value).toString('hex') : secret.error.reason;
  };
  const first = await hex('key-1', 'wh-1', 1);
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(await hex('key-1', 'wh-1', 1)).toBe(first);
  const others = [hex('key-1', 'wh-1', 2), hex('key-1', 'wh-2', 1), hex('key-2', 'wh-1', 1)];
  expect(new Set([first, ...(await Promise.all(others))]).size).toBe(4);
});

it('calls KMS once for the 1,000 most recently used, even for concurrent requests', async () => {
  const { secret } = create();
  await Promise.all([secret('wh-used', 1), secret('wh-used', 1)]);
  expect(derived).toEqual(['wh-used.1']);
  for (let count = 0; count < 1_000; count += 1) {
    await secret(`wh-${count}`, 1);
    if (count % 100 === 0) await secret('wh-used', 1);
  }
  derived = [];
  for (const webhookId of ['wh-used', 'wh-999', 'wh-0']) await secret(webhookId, 1);
  expect(derived).toEqual(['wh-0.1']);
});

it('reports a failure, and calls KMS again afterwards', async () => {
  const { secret } = create();
  isKmsFailing = true;
  const error = { kind: 'secret_unavailable', reason: 'KMSInvalidStateException' };
  expect(await secret('wh-1', 1)).toEqual({ ok: false, error });
  isKmsFailing = false;
  expect(await secret('wh-1', 1)).toMatchObject({ ok: true });
});
