import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { LocalEnvironment } from '../support/local-environment';

/** A webhook as its receiver got it, and the secret that the receiver was given. */
export interface CapturedDelivery {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly secret: string;
}

/** Has an environment deliver an event to a receiver, through all that is in between. */
export async function captureDelivery(
  local: LocalEnvironment,
  environment: string,
): Promise<CapturedDelivery> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const arrival = once(server, 'request');
    const { organizationId } = await local.walletJson<{ organizationId: string }>(environment, 'seed');
    const to = ['--organization', organizationId];
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { secret } = await local.walletJson<{ secret: string }>(
      environment,
      'webhook',
      'add',
      ...to,
      '--url',
      url,
    );
    const event = ['--kind', 'wallet.created', '--data', '{"walletId":"wa-1","name":"Zürich €"}'];
    await local.walletJson(environment, 'send-event', ...to, ...event);
    const [request, response] = await arrival;
    const body = await text(request);
    response.end();
    return { headers: request.headers, body, secret };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** As lines, the way a log or `curl -v` has them. */
export const asLines = (headers: IncomingMessage['headers']): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
