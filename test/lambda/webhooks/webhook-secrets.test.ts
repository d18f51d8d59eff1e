import { createHmac } from 'node:crypto';
import type { GenerateMacCommand, KMSClient } from '@aws-sdk/client-kms';
import { createWebhookSecrets } from '../../../lambda/webhooks/webhook-secrets';

/** A KMS, the messages of which it derived a secret, and whether it fails. End-to-end tests use the local KMS. */
function createKms() {
  const kms = {
    derived: [] as string[],
    isFailing: false,
    async send({ input: { KeyId, Message = new Uint8Array() } }: GenerateMacCommand) {
      if (kms.isFailing) throw Object.assign(new Error(), { name: 'KMSInvalidStateException' });
      kms.derived.push(Buffer.from(Message).toString());
      return { Mac: createHmac('sha256', `${KeyId}`).update(Message).digest() };
    },
  };
  const { secret } = createWebhookSecrets({ kms: kms as unknown as KMSClient, keyId: 'key-1' });
  return { kms, secret };
}

it('calls KMS once for the 1,000 most recently used, even for concurrent requests', async () => {
  const { kms, secret } = createKms();
  await Promise.all([secret('wh-used', 1), secret('wh-used', 1)]);
  expect(kms.derived).toEqual(['wh-used.1']);
  for (let count = 0; count < 1_000; count += 1) {
    await secret(`wh-${count}`, 1);
    if (count % 100 === 0) await secret('wh-used', 1);
  }
  kms.derived = [];
  for (const webhookId of ['wh-used', 'wh-999', 'wh-0']) await secret(webhookId, 1);
  expect(kms.derived).toEqual(['wh-0.1']);
});

it('derives the MAC of webhook id and version with the key, or reports a failure and calls KMS again', async () => {
  const { kms, secret } = createKms();
  kms.isFailing = true;
  const error = { kind: 'secret_unavailable', reason: 'KMSInvalidStateException' };
  expect(await secret('wh-1', 2)).toEqual({ ok: false, error });
  kms.isFailing = false;
  const value = createHmac('sha256', 'key-1').update('wh-1.2').digest();
  expect(await secret('wh-1', 2)).toEqual({ ok: true, value });
});
