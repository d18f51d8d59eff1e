import { createHmac } from 'node:crypto';
import type { GenerateMacCommand, KMSClient } from '@aws-sdk/client-kms';
import { createWebhookSecrets } from '../../../lambda/shared/webhook-secrets';

const macOf = (key: string, message: Uint8Array | string) =>
  createHmac('sha256', key).update(message).digest();
/** As of KMS. End-to-end tests use the local KMS. */
const send = jest.fn(async ({ input }: GenerateMacCommand, _options: object) => ({
  Mac: macOf(input.KeyId ?? '', input.Message ?? ''),
}));
const create = () => createWebhookSecrets({ kms: { send } as unknown as KMSClient, keyId: 'key-1' });
beforeEach(() => send.mockClear());

it('derives the MAC of webhook id and version with the key, or reports a failure or a shorter one and calls KMS again', async () => {
  const { secret } = create();
  const timeout = jest.spyOn(AbortSignal, 'timeout');
  const reason = 'KMSInvalidStateException';
  send.mockRejectedValueOnce(Object.assign(new Error(), { name: reason }));
  expect(await secret('wh-1', 2)).toEqual({ ok: false, error: { kind: 'secret_unavailable', reason } });
  send.mockResolvedValueOnce({ Mac: macOf('key-1', 'wh-1.2').subarray(1) });
  expect(await secret('wh-1', 2)).toMatchObject({ error: { kind: 'secret_unavailable' } });
  expect(await secret('wh-1', 2)).toEqual({ ok: true, value: macOf('key-1', 'wh-1.2') });
  expect(await secret('wh-1', 1)).toEqual({ ok: true, value: macOf('key-1', 'wh-1.1') });
  expect(timeout).toHaveBeenLastCalledWith(5_000);
  expect(send.mock.lastCall?.[1]).toEqual({ abortSignal: timeout.mock.results.at(-1)?.value });
});

it('calls KMS once for the 1,000 most recently used, even for concurrent requests', async () => {
  const { secret } = create();
  await Promise.all([secret('wh-used', 1), secret('wh-used', 1)]);
  for (let count = 0; count < 1_000; count += 1) {
    await secret(`wh-${count}`, 1);
    if (count % 100 === 0) await secret('wh-used', 1);
  }
  for (const webhookId of ['wh-used', 'wh-1']) await secret(webhookId, 1);
  expect(send).toHaveBeenCalledTimes(1_001);
  await secret('wh-0', 1);
  expect(send).toHaveBeenCalledTimes(1_002);
});
