import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { printableLine } from '../../domain/printable';
import { signatureHeaders } from '../../domain/signature';
import { type DeployedEnvironment, openEnvironment } from '../shell/deployed-environment';
import { CommandFailed } from '../shell/failure';
import { awaitInterruption } from '../shell/interruption';
import { readFields } from '../shell/json';
import { runOperation } from '../shell/operations';
import { type CommonOptions, number, withEnvironment } from '../shell/options';
import type { Terminal } from '../shell/terminal';
import { deriveSecret } from './secret';

interface ReceiveOptions extends CommonOptions {
  readonly port?: number;
  readonly respond?: number;
}

interface ReceivedRequest {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly from: string;
}

const help = `
Looks up the secrets of the environment's webhooks. Returns 204 to a verified delivery, and 401 to any other. Try retries
with --respond 500; --respond 410 disables the webhook.`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('receive'))
    .summary('receive webhooks on this machine')
    .description('Listen for webhooks on 127.0.0.1, verify and print them, until Ctrl-C.')
    .option(
      '--port <port>',
      'port to listen on; 0 chooses a free port (default: 8010, plus the --port-offset of npm start)',
      number(0, 65_535),
    )
    .option('--respond <number>', 'return this status', number(200, 599))
    .addHelpText('after', help)
    .action((options: ReceiveOptions) => receive(options, terminal));
}

async function receive({ respond, json, port, ...options }: ReceiveOptions, terminal: Terminal) {
  const target = await openEnvironment(options, terminal);
  const { signal, forget } = awaitInterruption();

  async function answer(request: ReceivedRequest): Promise<number> {
    const { headers, body, method, from } = request;
    if (method !== 'POST') return 405;
    const verification = await verifyDelivery(request, target);
    const { verified, reason, webhookId, secretVersion } = verification;
    const answered = respond ?? (verified ? 204 : 401);
    const { id: eventId = null, kind = null } = readFields(body);
    const deliveryId = headers['webhook-id'] ?? null;
    const shown = ['webhook-id', 'webhook-timestamp', ...signatureNames];
    const report = {
      /** When it arrived: ISO 8601, UTC. */
      date: new Date().toISOString(),
      ...verification,
      deliveryId,
      eventId,
      kind,
      from,
      answered,
      headers: Object.fromEntries(shown.flatMap((name) => (headers[name] ? [[name, headers[name]]] : []))),
      body,
    };
    const signedBy = webhookId ? ` with secret ${secretVersion} of ${webhookId}` : '';
    const verdict = verified ? `verified${signedBy}` : terminal.bad(`NOT verified: ${reason}`);
    terminal.result(
      json
        ? JSON.stringify(report)
        : `${report.date.slice(11, 23)}  ${verdict}
  webhook-id ${printableLine(String(deliveryId ?? 'missing'))}, answered ${answered}
  ${printableLine(body)}`,
    );
    return answered;
  }

  try {
    const receiver = await startReceiver(port ?? target.receiverPort, answer);
    terminal.note(`Listening on ${receiver.url} until Ctrl-C.`);
    if (!target.local)
      target.note('The environment is deployed: it needs a tunnel with a public https URL to this machine.');
    const url = target.local ? receiver.url : 'https://…';
    target.note(target.walletCommand(`webhook add --organization or-… --url ${url}`));
    if (!signal.aborted) await once(signal, 'abort');
    await receiver.close();
  } finally {
    forget();
  }
}

/** Verifies with the current secrets of the organization's webhooks: after a rotation, both the old and the new one sign. */
async function verifyDelivery(
  request: Pick<ReceivedRequest, 'headers' | 'body'>,
  target: DeployedEnvironment,
) {
  const unverified = { verified: false, webhookId: null, secretVersion: null };
  const reasons: string[] = [];
  try {
    const organizationId = String(readFields(request.body).organizationId);
    const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
    for (const { webhookId, secretVersion } of webhooks) {
      const reason = verify(request, await deriveSecret(target, webhookId, secretVersion));
      if (!reason) return { verified: true, reason: null, webhookId, secretVersion };
      reasons.push(reason);
    }
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { ...unverified, reason: error.message };
  }
  // With the secret of another webhook, no signature matches.
  const reason = reasons.find((each) => !each.endsWith('No matching signature found')) ?? reasons[0];
  return { ...unverified, reason: reason ?? 'the organization has no webhooks' };
}

/** Listens on 127.0.0.1. @param answer returns the response's status */
async function startReceiver(port: number, answer: (arrival: ReceivedRequest) => number | Promise<number>) {
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', headers, socket } = incoming;
    try {
      const body = await text(incoming);
      const status = await answer({ method, headers, body, from: socket.remoteAddress ?? '' });
      outgoing.writeHead(status, { 'Content-Length': 0 }).end();
    } catch {
      // The sender disconnected.
      outgoing.destroy();
    }
  });
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    throw new CommandFailed(
      `Port ${port} is not available: ${(error as Error).message}.`,
      'Choose another with --port.',
    );
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}

/** As Node.js names them in requests. */
const signatureNames = signatureHeaders.map((name) => name.toLowerCase());

/** Verifies with the library of Standard Webhooks, under each signature header. @returns the reason if invalid */
function verify(
  { headers, body }: Pick<ReceivedRequest, 'headers' | 'body'>,
  secret: string,
): string | undefined {
  for (const name of signatureNames) {
    const standard = {
      'webhook-id': String(headers['webhook-id'] ?? ''),
      'webhook-timestamp': String(headers['webhook-timestamp'] ?? ''),
      'webhook-signature': String(headers[name] ?? ''),
    };
    try {
      new StandardWebhook(secret).verify(body, standard, { jsonParse: false });
    } catch (error) {
      return `${name}: ${(error as Error).message}`;
    }
  }
  return undefined;
}
