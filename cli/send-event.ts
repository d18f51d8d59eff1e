import { type Command, InvalidArgumentError } from 'commander';
import { isEventId, type NewEvent, newEventId, parseEvent, writeEvent } from '../domain/event';
import { environmentCommand } from './environment-command';
import { UsageError } from './failure';
import { runOperation } from './operations-function';
import { id } from './options';
import { sendMessages } from './queue-messages';
import type { Target } from './target';
import type { Terminal } from './terminal';
import { eventKind } from './webhooks';

interface SendEventOptions {
  readonly organization: string;
  readonly kind: string;
  /** JSON, as it was typed. */
  readonly data: string;
  readonly id?: string;
}

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<SendEventOptions>(program, terminal, 'send-event', {
    summary: "send an event to an organization's webhooks, and print its id",
    help: 'An event that is sent again with --id has the same webhook-id at each receiver as before.',
    production: 'receivers take the event for a real one',
    async run(target, { id: eventId = newEventId(), organization: organizationId, kind, data }, print) {
      const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
      if (!webhooks.some(({ enabled, kinds }) => enabled && (kinds?.includes(kind) ?? true)))
        target.note(`No enabled webhook of ${organizationId} wants ${kind}: nothing will be delivered.`);
      await putEvent(target, { id: eventId, organizationId, kind, data });
      print({ eventId }, () => eventId);
      target.note(`Its deliveries: ${target.paste(`deliveries --event ${eventId}`)}`);
    },
  })
    .requiredOption('--organization <id>', 'the organization in which it happened', id('or'))
    .requiredOption('--kind <kind>', 'its kind, such as wallet.created', eventKind)
    .option('--data <json>', 'event data (JSON)', json, '{}')
    .option('--id <id>', 'its id (default: a new one)', eventId);
}

/** Puts an event on the region's queue, dated now. @throws UsageError for what the fan-out would refuse */
export async function putEvent(target: Target, event: NewEvent): Promise<void> {
  const body = writeEvent(event);
  const parsed = parseEvent(body);
  if (!parsed.ok) throw new UsageError(parsed.error, 'Change --data.');
  await sendMessages(target, 'WebhookEventsQueueUrl', [{ body, group: event.organizationId }]);
}

function json(text: string): string {
  try {
    JSON.parse(text);
    return text.trim();
  } catch (error) {
    throw new InvalidArgumentError(`Give JSON, such as '{"walletId":"wa-1"}': ${(error as Error).message}.`);
  }
}

export function eventId(text: string): string {
  if (isEventId(text)) return text;
  throw new InvalidArgumentError('Give 1 to 64 of a-z, A-Z, 0-9, - and _, the first a letter or digit.');
}
