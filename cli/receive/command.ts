import { once } from 'node:events';
import { type Command, InvalidArgumentError } from 'commander';
import { CommandFailed, UsedWrongly } from '../failure';
import { awaitInterruption } from '../interruption';
import { type CommonOptions, id, port, time, withEnvironment } from '../options';
import { walletCommand } from '../pasted-command';
import { openTarget, type Target } from '../target';
import type { Terminal } from '../terminal';
import { describeWebhook } from '../webhook/webhook';
import { type Behaviour, statusOf } from './behaviour';
import { type ReceivedRequest, startReceiver } from './receiver';
import { inWords, reportOf } from './report';
import { type FindSecrets, secretsOfOrganization, secretsOfWebhook } from './signing-secrets';
import { type SigningSecret, type Verification, verify } from './verification';

interface ReceiveOptions extends CommonOptions, Behaviour {
  readonly port: number;
  readonly secret?: string;
  readonly webhook?: string;
}

const help = `
It verifies each delivery as a receiver should, and answers 204, or 401 when the signature does not verify. It knows
the secrets of the environment's webhooks by itself; with --webhook those of one webhook alone, with --secret the one
that is given. For those it needs lambda:InvokeFunction on OperationsFunctionName and kms:GenerateMac on
WebhookSecretsKeyArn; with --secret it needs nothing.

Examples:
  wallet local receive                                         verifies and prints what arrives
  wallet local receive --environment uae --port 8020
  wallet local receive --secret whsec_… --json                 one line of JSON for each delivery
  wallet local receive --respond 500                           to see deliveries tried again
  wallet local receive --respond 410                           to see the webhook disabled
  wallet local receive --fail-rate 0.3 --delay 2s`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('receive'))
    .summary('run a small receiver of webhooks on this machine')
    .description('Listens on 127.0.0.1 for webhooks, verifies and prints what arrives, until Ctrl-C.')
    .option('--port <port>', 'where to listen; 0 takes any free port', port(0), 8010)
    .option('--webhook <id>', "verify by this webhook's secrets alone", id('wh'))
    .option('--secret <secret>', 'verify by this secret alone', secret)
    .option('--respond <status>', 'answer with this status, whatever arrives', status)
    .option('--fail-rate <part>', 'answer this part of deliveries with 500, from 0 to 1', part, 0)
    .addOption(
      time('--delay <time>', 'wait before each answer', { usual: '0s', atLeast: '0s', atMost: '1m' }),
    )
    .addHelpText('after', help)
    .action((options: ReceiveOptions) => receive(options, terminal));
}

async function receive(options: ReceiveOptions, terminal: Terminal): Promise<void> {
  const { secret: given, webhook } = options;
  if (given && webhook) throw new UsedWrongly('Give --secret or --webhook, not both.');
  // A secret that is given needs no environment.
  const target = given ? undefined : await openTarget(options, terminal);
  const verifyDelivery = rememberingVerifier(await openSecrets(target, options));
  const arrivals = new Map<string, number>();
  const seen = { verified: 0, all: 0 };
  const { signal, forget } = awaitInterruption();

  async function answer(arrival: ReceivedRequest): Promise<number> {
    if (arrival.method !== 'POST') return 405;
    const now = Date.now();
    const verification = await verifyDelivery(arrival);
    const deliveryId = String(arrival.headers['webhook-id']);
    arrivals.set(deliveryId, (arrivals.get(deliveryId) ?? 0) + 1);
    seen.all += 1;
    if (verification.verified) seen.verified += 1;
    const report = reportOf(arrival, verification, { arrivals: arrivals.get(deliveryId) ?? 1, now });
    const answered = await statusOf(verification.verified, options, signal);
    terminal.result(
      options.json ? JSON.stringify({ ...report, answered }) : inWords(report, answered, terminal.bad),
    );
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
  terminal.note(`${seen.all} received, ${seen.verified} of them verified.`);
}

async function openSecrets(
  target: Target | undefined,
  { secret: given = '', webhook }: ReceiveOptions,
): Promise<FindSecrets> {
  if (!target) return async () => [{ secret: given }];
  if (!webhook) return secretsOfOrganization(target);
  // A webhook that is not there, or an environment that does not run, is told now rather than with the first delivery.
  await describeWebhook(target, webhook);
  return secretsOfWebhook(target, webhook);
}

/** Looks secrets up when those that it knows do not verify: a webhook may be new, or its secret. */
function rememberingVerifier(find: FindSecrets): (arrival: ReceivedRequest) => Promise<Verification> {
  const known = new Map<string, SigningSecret>();
  return async (arrival) => {
    const verification = verify(arrival, [...known.values()]);
    if (verification.verified) return verification;
    try {
      const found = await find(arrival.body);
      for (const secret of found) known.set(secret.secret, secret);
      return verify(arrival, found);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      return { verified: false, reason: error.message };
    }
  };
}

function introduction(url: string, target: Target | undefined, options: ReceiveOptions): string {
  const listening = `Listening on ${url} until Ctrl-C.`;
  if (!target) return listening;
  const add = `${walletCommand('webhook add', options)} --organization or-… --url`;
  if (target.local) {
    if (options.webhook) return listening;
    return `${listening} Send it what happens in an organization:\n  ${walletCommand('local seed', options)}\n  ${add} ${url}`;
  }
  const reachable = `${listening} Environment ${target.environment.name} is deployed and reaches public https URLs alone: one has to lead here, by a tunnel or a proxy with a certificate.`;
  return options.webhook
    ? reachable
    : `${reachable} Send it what happens in an organization:\n  ${add} https://…`;
}

function part(text: string): number {
  const value = Number(text);
  if (/^[\d.]+$/.test(text) && value <= 1) return value;
  throw new InvalidArgumentError('Give a number from 0 to 1, such as 0.3.');
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
