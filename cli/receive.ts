import { once } from 'node:events';
import { type Command, InvalidArgumentError } from 'commander';
import { printableLine } from '../domain/printable';
import { signatureHeaders } from '../domain/webhook-secrets';
import { CommandFailed, UsedWrongly } from './failure';
import { awaitInterruption } from './interruption';
import { readFields } from './json';
import { runOperation } from './operations-function';
import { type CommonOptions, port, withEnvironment } from './options';
import { walletCommand } from './pasted-command';
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
It verifies each delivery as a receiver should, and answers 204, or 401 when the signature does not verify. It looks up
the secrets of the environment's webhooks; with --secret it needs no environment.

Examples:
  wallet local receive                                   verifies and prints what arrives
  wallet local receive --environment uae --port 8020
  wallet local receive --secret whsec_… --json           one line of JSON for each delivery
  wallet local receive --respond 500                     to see deliveries tried again
  wallet local receive --respond 410                     to see the webhook disabled`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('receive'))
    .summary('run a small receiver of webhooks on this machine')
    .description('Listens on 127.0.0.1 for webhooks, verifies and prints what arrives, until Ctrl-C.')
    .option('--port <port>', 'where to listen; 0 takes any free port', port(0), 8010)
    .option('--secret <secret>', 'verify by this secret only', secret)
    .option('--respond <status>', 'answer with this status, whatever arrives', status)
    .addHelpText('after', help)
    .action((options: ReceiveOptions) => receive(options, terminal));
}

async function receive(options: ReceiveOptions, terminal: Terminal): Promise<void> {
  const { secret: given } = options;
  // A secret that is given needs no environment.
  const target = given ? undefined : await openTarget(options, terminal);
  const known: SigningSecret[] = given ? [{ secret: given }] : [];
  const arrivals = new Map<string, number>();
  const counts = { verified: 0, all: 0 };
  const { signal, forget } = awaitInterruption();

  async function answer(arrival: ReceivedRequest): Promise<number> {
    if (arrival.method !== 'POST') return 405;
    const verification = await verifyByAny(arrival, known, target);
    const deliveryId = String(arrival.headers['webhook-id']);
    const count = (arrivals.get(deliveryId) ?? 0) + 1;
    arrivals.set(deliveryId, count);
    counts.all += 1;
    if (verification.by) counts.verified += 1;
    const answered = options.respond ?? (verification.by ? 204 : 401);
    const report = reportOf(arrival, verification, { arrivals: count, answered });
    terminal.result(options.json ? JSON.stringify(report) : formatReport(report, terminal));
    return answered;
  }

  try {
    const receiver = await startReceiver({ port: options.port, option: '--port' }, answer);
    terminal.note(introduction(receiver.url, target, options));
    if (!signal.aborted) await once(signal, 'abort');
    await receiver.close();
  } finally {
    forget();
  }
  terminal.note(`${counts.all} received, ${counts.verified} of them verified.`);
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

/** Looks secrets up when those that it knows do not verify: a webhook may be new, or its secret. */
async function verifyByAny(
  arrival: ReceivedRequest,
  known: SigningSecret[],
  target: Target | undefined,
): Promise<Verification> {
  const byAny = (): Verification => {
    const tried = known.map((by) => ({ by, reason: verify(arrival, by.secret) }));
    const verified = tried.find(({ reason }) => reason === undefined);
    if (verified) return verified;
    const reasons = tried.flatMap(({ reason }) => reason ?? []);
    // By another webhook's secret, no signature matches.
    const own = reasons.find((reason) => !reason.endsWith('No matching signature found'));
    return { reason: own ?? reasons.at(-1) ?? 'there is no secret to verify it by' };
  };
  const verification = byAny();
  if (verification.by || !target) return verification;
  try {
    known.splice(0, known.length, ...(await secretsOf(target, readFields(arrival.body).organizationId)));
    return byAny();
  } catch (error) {
    if (error instanceof CommandFailed) return { reason: error.message };
    throw error;
  }
}

/** Of each webhook of an organization: the current secret, and the one before it. */
async function secretsOf(target: Target, organizationId: unknown): Promise<readonly SigningSecret[]> {
  if (typeof organizationId !== 'string') return [];
  const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
  const deriveSecret = await openWebhookSecrets(target);
  const versions = webhooks.flatMap(({ webhookId, secretVersion: current }) =>
    [current, current - 1]
      .filter((version) => version > 0)
      .map((secretVersion) => ({ webhookId, secretVersion })),
  );
  return Promise.all(
    versions.map(async ({ webhookId, secretVersion }) => ({
      webhookId,
      secretVersion,
      secret: await deriveSecret(webhookId, secretVersion),
    })),
  );
}

/** What `--json` prints of a delivery. */
function reportOf(
  { headers, body, from }: ReceivedRequest,
  { by, reason }: Verification,
  { arrivals, answered }: { readonly arrivals: number; readonly answered: number },
) {
  const now = Date.now();
  const { id, kind, date } = readFields(body);
  const age = typeof date === 'string' ? now - Date.parse(date) : Number.NaN;
  const shown = ['webhook-id', 'webhook-timestamp', ...signatureHeaders];
  return {
    /** When it arrived: ISO 8601, UTC. */
    date: new Date(now).toISOString(),
    verified: by !== undefined,
    reason: reason ?? null,
    webhookId: by?.webhookId ?? null,
    secretVersion: by?.secretVersion ?? null,
    deliveryId: textOrNull(headers['webhook-id']),
    /** How often this `webhook-id` has come, this time included. */
    arrivals,
    eventId: textOrNull(id),
    kind: textOrNull(kind),
    /** Since the event's date. */
    ageMs: Number.isNaN(age) ? null : age,
    from,
    headers: Object.fromEntries(
      shown.map((name) => [name, headers[name]]).filter(([, value]) => typeof value === 'string'),
    ) as Readonly<Record<string, string>>,
    /** As it came, which is what was signed. */
    body,
    answered,
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function formatReport(report: ReturnType<typeof reportOf>, { bad }: Terminal): string {
  const { date, verified, reason, webhookId, deliveryId, arrivals, ageMs, from, body, answered } = report;
  const verdict = verified
    ? `verified${webhookId ? ` by secret ${report.secretVersion} of ${webhookId}` : ''}`
    : bad(`NOT verified: ${reason}`);
  const facts = [
    `webhook-id ${printableLine(deliveryId ?? 'missing')}`,
    arrivals > 1 && `arrival ${arrivals}`,
    `from ${from}`,
    ageMs !== null && `${(ageMs / 1_000).toFixed(2)} s after the event`,
    `answered ${answered}`,
  ];
  return [
    `${date.slice(11, 23)}  ${verdict}`,
    `  ${facts.filter(Boolean).join(', ')}`,
    `  ${printableLine(body)}`,
  ].join('\n');
}

function introduction(url: string, target: Target | undefined, options: ReceiveOptions): string {
  const listening = `Listening on ${url} until Ctrl-C.`;
  if (!target) return listening;
  const add = `${walletCommand('webhook add', options)} --organization or-… --url`;
  return target.local
    ? `${listening} Send it the events of an organization:\n  ${walletCommand('local seed', options)}\n  ${add} ${url}`
    : `${listening} Environment ${target.environment.name} is deployed and reaches public https URLs only: one has to lead here, by a tunnel or a proxy with a certificate. Send it the events of an organization:\n  ${add} https://…`;
}

function status(text: string): number {
  if (/^[2-5]\d\d$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a status from 200 to 599, such as 500.');
}

function secret(text: string): string {
  if (/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return text;
  // Not InvalidArgumentError: commander would state the value.
  throw new UsedWrongly('--secret has no secret.', 'Give it as "wallet webhook add" prints it: whsec_…');
}
