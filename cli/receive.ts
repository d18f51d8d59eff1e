import { once } from 'node:events';
import type { Command } from 'commander';
import { printableLine } from '../domain/printable';
import { signatureHeaders } from '../domain/webhook-secrets';
import { CommandFailed, UsageError } from './failure';
import { awaitInterruption } from './interruption';
import { readFields } from './json';
import { runOperation } from './operations-function';
import { type CommonOptions, number, port, withEnvironment } from './options';
import { type ReceivedRequest, startReceiver, verify } from './receiver';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';
import { deriveSecret } from './webhooks';

interface ReceiveOptions extends CommonOptions {
  readonly port: number;
  readonly secret?: string;
  readonly respond?: number;
}

const help = `
Verifies each delivery as a receiver should, and answers 204, or 401 when the signature does not verify. It looks up the
secrets of the environment's webhooks; with --secret it needs no environment.

Examples:
  wallet local receive                                   verifies and prints what arrives
  wallet local receive --environment uae --port 8020
  wallet local receive --secret whsec_… --json           one line of JSON for each delivery
  wallet local receive --respond 500                     to see retries
  wallet local receive --respond 410                     to see the webhook disabled`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('receive'))
    .summary('run a small receiver of webhooks on this machine')
    .description('Listens on 127.0.0.1 for webhooks, verifies and prints what arrives, until Ctrl-C.')
    .option('--port <port>', 'where to listen; 0 takes any free port', port(0), 8010)
    .option('--secret <secret>', 'verify by this secret only', secret)
    .option('--respond <number>', 'answer with this status', number(200, 599))
    .addHelpText('after', help)
    .action((options: ReceiveOptions) => receive(options, terminal));
}

async function receive(options: ReceiveOptions, terminal: Terminal): Promise<void> {
  const target = options.secret ? undefined : await openTarget(options, terminal);
  const verifyDelivery = createVerifier(options.secret, target);
  const arrivals = new Map<string, number>();
  const { signal, forget } = awaitInterruption();

  async function answer(request: ReceivedRequest): Promise<number> {
    if (request.method !== 'POST') return 405;
    const verification = await verifyDelivery(request);
    const deliveryId = String(request.headers['webhook-id']);
    arrivals.set(deliveryId, (arrivals.get(deliveryId) ?? 0) + 1);
    const answered = options.respond ?? (verification.verified ? 204 : 401);
    const report = reportOf(request, verification, { arrivals: arrivals.get(deliveryId), answered });
    terminal.result(options.json ? JSON.stringify(report) : formatReport(report, terminal));
    return answered;
  }

  try {
    const receiver = await startReceiver(options.port, answer);
    terminal.note(`Listening on ${receiver.url} until Ctrl-C.`);
    if (target?.local === false)
      target.note(
        `Environment ${target.environment.name} is deployed: have a public https URL lead here, by a tunnel or a proxy.`,
      );
    const url = target?.local ? receiver.url : 'https://…';
    if (target) target.note(target.paste(`webhook add --organization or-… --url ${url}`));
    if (!signal.aborted) await once(signal, 'abort');
    await receiver.close();
  } finally {
    forget();
  }
}

/** Of a delivery; by a webhook's secret, which one. */
interface Verification {
  readonly verified: boolean;
  readonly reason: string | null;
  readonly webhookId: string | null;
  readonly secretVersion: number | null;
}

type SigningSecret = Pick<Verification, 'webhookId' | 'secretVersion'> & { readonly secret: string };

/** Verifies by the given secret, or by those of the organization's webhooks, which are looked up again when none fits. */
function createVerifier(given: string | undefined, target: Target | undefined) {
  let secrets: readonly SigningSecret[] = given
    ? [{ webhookId: null, secretVersion: null, secret: given }]
    : [];
  const unverified = (reason: string) => ({ verified: false, reason, webhookId: null, secretVersion: null });
  const verifyByAny = (request: ReceivedRequest): Verification => {
    const reasons: string[] = [];
    for (const { secret, ...signedBy } of secrets) {
      const reason = verify(request, secret);
      if (reason === undefined) return { verified: true, reason: null, ...signedBy };
      reasons.push(reason);
    }
    // With the secret of another webhook, no signature matches.
    const reason = reasons.find((each) => !each.endsWith('No matching signature found')) ?? reasons[0];
    return unverified(reason ?? 'there is no secret to verify it by');
  };
  return async (request: ReceivedRequest): Promise<Verification> => {
    const verification = verifyByAny(request);
    if (verification.verified || !target) return verification;
    try {
      secrets = await secretsOf(target, String(readFields(request.body).organizationId));
      return verifyByAny(request);
    } catch (error) {
      if (error instanceof CommandFailed) return unverified(error.message);
      throw error;
    }
  };
}

/** The current secrets of an organization's webhooks: after a rotation, deliveries are signed by it and the one before. */
async function secretsOf(target: Target, organizationId: string): Promise<readonly SigningSecret[]> {
  const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
  return Promise.all(
    webhooks.map(async ({ webhookId, secretVersion }) => {
      return { webhookId, secretVersion, secret: await deriveSecret(target, webhookId, secretVersion) };
    }),
  );
}

/** What `--json` prints of a delivery. */
function reportOf(
  { headers, body, from }: ReceivedRequest,
  verification: Verification,
  { arrivals = 0, answered }: { readonly arrivals: number | undefined; readonly answered: number },
) {
  const now = new Date();
  const { id = null, kind = null, date } = readFields(body);
  const age = now.getTime() - Date.parse(String(date));
  const shown = ['webhook-id', 'webhook-timestamp', ...signatureHeaders];
  return {
    /** When it arrived: ISO 8601, UTC. */
    date: now.toISOString(),
    ...verification,
    deliveryId: headers['webhook-id'] ?? null,
    /** How often this `webhook-id` has come, this time included. */
    arrivals,
    eventId: id,
    kind,
    /** Since the event's date. */
    ageMs: Number.isNaN(age) ? null : age,
    from,
    headers: Object.fromEntries(shown.flatMap((name) => (headers[name] ? [[name, headers[name]]] : []))),
    /** The bytes that were signed. */
    body,
    answered,
  };
}

function formatReport(report: ReturnType<typeof reportOf>, { bad }: Terminal): string {
  const { date, verified, reason, webhookId, deliveryId, arrivals, answered } = report;
  const signedBy = webhookId ? ` by secret ${report.secretVersion} of ${webhookId}` : '';
  const verdict = verified ? `verified${signedBy}` : bad(`NOT verified: ${reason}`);
  const id = printableLine(String(deliveryId ?? 'missing'));
  return `${date.slice(11, 23)}  ${verdict}
  webhook-id ${id}, arrival ${arrivals}, answered ${answered}
  ${printableLine(report.body)}`;
}

function secret(text: string): string {
  if (/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return text;
  // Not InvalidArgumentError: commander would print the value.
  throw new UsageError('--secret has no secret.', 'Give it as "wallet webhook add" prints it: whsec_…');
}
