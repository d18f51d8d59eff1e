import { once } from 'node:events';
import type { Command } from 'commander';
import { printableLine } from '../domain/printable';
import { signatureHeaders } from '../domain/webhook-secrets';
import { CommandFailed, UsedWrongly } from './failure';
import { awaitInterruption } from './interruption';
import { readFields } from './json';
import { runOperation } from './operations-function';
import { type CommonOptions, number, port, withEnvironment } from './options';
import { type ReceivedRequest, startReceiver, verify } from './receiver';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';
import { openWebhookSecrets } from './webhooks';

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
  const verifyArrival = createVerifier(options.secret, target);
  const arrivals = new Map<string, number>();
  const counts = { verified: 0, all: 0 };
  const { signal, forget } = awaitInterruption();

  async function answer(arrival: ReceivedRequest): Promise<number> {
    if (arrival.method !== 'POST') return 405;
    const verification = await verifyArrival(arrival);
    const id = String(arrival.headers['webhook-id']);
    const count = (arrivals.get(id) ?? 0) + 1;
    arrivals.set(id, count);
    counts.all += 1;
    if (verification.by) counts.verified += 1;
    const answered = options.respond ?? (verification.by ? 204 : 401);
    const report = reportOf(arrival, verification, { arrivals: count, answered });
    terminal.result(options.json ? JSON.stringify(report) : formatReport(report, terminal));
    return answered;
  }

  try {
    const receiver = await startReceiver({ port: options.port, option: '--port' }, answer);
    terminal.note(
      `Listening on ${receiver.url} until Ctrl-C.${target ? nextSteps(receiver.url, target) : ''}`,
    );
    if (!signal.aborted) await once(signal, 'abort');
    await receiver.close();
  } finally {
    forget();
  }
  terminal.note(`${counts.all} received, ${counts.verified} of them verified.`);
}

function nextSteps(url: string, target: Target): string {
  const add = (to: string) => target.paste(`webhook add --organization or-… --url ${to}`);
  return target.local
    ? ` Send it the events of an organization:\n  ${target.paste('local seed')}\n  ${add(url)}`
    : ` Environment ${target.environment.name} is deployed and reaches public https URLs only: lead one here, by a tunnel or a proxy with a certificate.\n  ${add('https://…')}`;
}

interface SigningSecret {
  readonly secret: string;
  readonly webhookId?: string;
  readonly secretVersion?: number;
}

interface Verification {
  /** Undefined when it does not verify. */
  readonly by?: SigningSecret | undefined;
  readonly reason?: string | undefined;
}

/** Verifies by the given secret, or by those of the organization's webhooks, which are looked up again when none fits. */
function createVerifier(given: string | undefined, target: Target | undefined) {
  let secrets: readonly SigningSecret[] = given ? [{ secret: given }] : [];
  const verifyByAny = (arrival: ReceivedRequest): Verification => {
    const tried = secrets.map((by) => ({ by, reason: verify(arrival, by.secret) }));
    const verified = tried.find(({ reason }) => reason === undefined);
    if (verified) return verified;
    const reasons = tried.map(({ reason = '' }) => reason);
    // With the secret of another webhook, no signature matches.
    const reason = reasons.find((each) => !each.endsWith('No matching signature found')) ?? reasons[0];
    return { reason: reason ?? 'there is no secret to verify it by' };
  };
  return async (arrival: ReceivedRequest): Promise<Verification> => {
    const verification = verifyByAny(arrival);
    if (verification.by || !target) return verification;
    try {
      secrets = await secretsOf(target, String(readFields(arrival.body).organizationId));
      return verifyByAny(arrival);
    } catch (error) {
      if (error instanceof CommandFailed) return { reason: error.message };
      throw error;
    }
  };
}

/** Of each webhook of an organization: the current secret, and the one before it. */
async function secretsOf(target: Target, organizationId: string): Promise<readonly SigningSecret[]> {
  const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
  const deriveSecret = await openWebhookSecrets(target);
  const versions = webhooks.flatMap(({ webhookId, secretVersion: current }) =>
    [current, current - 1].filter(Boolean).map((secretVersion) => ({ webhookId, secretVersion })),
  );
  return Promise.all(
    versions.map(async (version) => ({
      ...version,
      secret: await deriveSecret(version.webhookId, version.secretVersion),
    })),
  );
}

/** What `--json` prints of a delivery. */
function reportOf(
  { headers, body, from }: ReceivedRequest,
  { by, reason }: Verification,
  { arrivals, answered }: { readonly arrivals: number; readonly answered: number },
) {
  const now = new Date();
  const { id, kind, date } = readFields(body);
  const age = now.getTime() - Date.parse(String(date));
  const shown = ['webhook-id', 'webhook-timestamp', ...signatureHeaders];
  return {
    /** When it arrived: ISO 8601, UTC. */
    date: now.toISOString(),
    verified: by !== undefined,
    reason: reason ?? null,
    webhookId: by?.webhookId ?? null,
    secretVersion: by?.secretVersion ?? null,
    deliveryId: headers['webhook-id'] ?? null,
    /** How often this `webhook-id` has come, this time included. */
    arrivals,
    eventId: id ?? null,
    kind: kind ?? null,
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
  const { date, verified, reason, webhookId, secretVersion, deliveryId, arrivals, ageMs, from } = report;
  const verdict = verified
    ? `verified${webhookId ? ` by secret ${secretVersion} of ${webhookId}` : ''}`
    : bad(`NOT verified: ${reason}`);
  const facts = [
    `webhook-id ${printableLine(String(deliveryId ?? 'missing'))}`,
    arrivals > 1 && `arrival ${arrivals}`,
    `from ${from}`,
    ageMs !== null && `${(ageMs / 1_000).toFixed(2)} s after the event`,
    `answered ${report.answered}`,
  ];
  return `${date.slice(11, 23)}  ${verdict}\n  ${facts.filter(Boolean).join(', ')}\n  ${printableLine(report.body)}`;
}

function secret(text: string): string {
  if (/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return text;
  // Not InvalidArgumentError: commander would print the value.
  throw new UsedWrongly('--secret has no secret.', 'Give it as "wallet webhook add" prints it: whsec_…');
}
