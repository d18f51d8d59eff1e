import { join } from 'node:path';
import type { LocalEnvironment } from '../support/local-environment';
import { startReceiveCommand } from '../support/receive-command';

/** A webhook as its receiver got it, and the secret that the receiver was given. */
export interface CapturedDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly secret: string;
}

/** Has an environment deliver an event to `wallet receive`, through all that is in between. */
export async function captureDelivery(local: LocalEnvironment, name: string): Promise<CapturedDelivery> {
  const outputs = join(local.stateDirectory, 'outputs.json');
  const receiver = await startReceiveCommand('--json', '--environment', name, '--outputs', outputs);
  try {
    const { organizationId } = await local.walletJson<{ organizationId: string }>(name, 'seed');
    const webhook = ['--organization', organizationId, '--url', receiver.url];
    const { secret } = await local.walletJson<{ secret: string }>(name, 'webhook', 'add', ...webhook);
    const data = '{"walletId":"wa-1","name":"Zürich €"}';
    const event = ['--organization', organizationId, '--kind', 'wallet.created', '--data', data];
    await local.walletJson(name, 'send-event', ...event);
    const { headers, body } = JSON.parse(await receiver.next()) as Omit<CapturedDelivery, 'secret'>;
    return { headers, body, secret };
  } finally {
    await receiver.end();
  }
}

/** As lines, the way a log or `curl -v` has them. */
export const asLines = (headers: CapturedDelivery['headers']): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
