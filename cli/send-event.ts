import { type Command, InvalidArgumentError } from 'commander';
import { isEventId, maxEventBytes, type NewEvent, newEventId, writeEvent } from '../domain/event';
import { isUnicode } from '../domain/strict-json';
import { UsedWrongly } from './failure';
import { runOperation } from './operations-function';
import { type CommonOptions, id, withEnvironment } from './options';
import { walletCommand } from './pasted-command';
import { allowProduction, requireProductionAllowed } from './production-guard';
import { sendMessages } from './queue-messages';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';
import { eventKind } from './webhooks';

interface SendEventOptions extends CommonOptions {
  readonly organization: string;
  readonly kind: string;
  /** JSON, as it was typed. */
  readonly data: string;
  readonly id?: string;
  readonly allowProduction?: boolean;
}

const help = `
Each enabled webhook of the organization that wants the kind gets the event. With --id, an event that was sent before
is sent again: its deliveries have the same webhook-id as then.

Examples:
  wallet local send-event --organization or-… --kind wallet.created --data '{"walletId":"wa-1"}'
  EVENT=$(wallet local send-event --organization or-… --kind wallet.created --data '{}')
  wallet local send-event --environment uae --organization or-… --kind a.b --data '[1]' --json     {"eventId":"…"}`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('send-event'))
    .summary("send an event to an organization's webhooks")
    .description(
      "Puts an event on the environment's queue, from where it goes to webhooks, and prints its id.",
    )
    .requiredOption('--organization <id>', 'the organization in which it happened', id('or'))
    .requiredOption('--kind <kind>', 'its kind, such as wallet.created', eventKind)
    .option('--data <json>', 'event data (JSON)', json, '{}')
    .option('--id <id>', 'its id; a new one when left out', eventId)
    .addOption(allowProduction())
    .addHelpText('after', help)
    .action((options: SendEventOptions) => sendEvent(options, terminal));
}

async function sendEvent(options: SendEventOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  requireProductionAllowed(target, options, 'receivers take the event for a real one');
  const { id: eventId = newEventId(), organization: organizationId, kind, data } = options;
  const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
  if (!webhooks.some(({ enabled, kinds }) => enabled && (kinds?.includes(kind) ?? true)))
    terminal.note(`No enabled webhook of ${organizationId} wants ${kind}: nothing will be delivered.`);
  await putEvent(target, { id: eventId, organizationId, kind, data });
  terminal.result(options.json ? JSON.stringify({ eventId }) : eventId);
  terminal.note(`Its deliveries: ${walletCommand('deliveries', options)} --event ${eventId}`);
}

/** Puts an event on the region's queue, dated now. @throws UsedWrongly for too large a one */
export async function putEvent(target: Target, event: NewEvent): Promise<void> {
  const body = writeEvent(event);
  const size = Buffer.byteLength(body);
  if (size > maxEventBytes) {
    throw new UsedWrongly(
      `The event has ${size} bytes; at most ${maxEventBytes} are allowed.`,
      'Give less with --data.',
    );
  }
  await sendMessages(target, 'WebhookEventsQueueUrl', [{ body, group: event.organizationId }]);
}

function json(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`Give JSON, such as '{"walletId":"wa-1"}': ${(error as Error).message}.`);
  }
  if (isUnicode(text)) return text.trim();
  throw new InvalidArgumentError(
    "It holds an unpaired surrogate, such as \\ud83d without its other half: receivers' parsers refuse it (RFC 7493).",
  );
}

/** Reads the id of an event. */
export function eventId(text: string): string {
  if (isEventId(text)) return text;
  throw new InvalidArgumentError(
    'Give 1 to 64 letters, digits, hyphens or underscores, the first a letter or digit.',
  );
}
