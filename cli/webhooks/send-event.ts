import { type Command, InvalidArgumentError } from 'commander';
import {
  isEventId,
  isReservedKind,
  type NewEvent,
  newEventId,
  parseEvent,
  writeEvent,
} from '../../domain/event';
import { environmentCommand } from '../shell/environment-command';
import { UsageError } from '../shell/failure';
import { runOperation } from '../shell/operations';
import { id } from '../shell/options';
import { sendMessages } from '../shell/queue';
import type { Target } from '../shell/target';
import type { Terminal } from '../shell/terminal';
import { eventKind } from './secret';

interface SendEventOptions {
  readonly organization: string;
  readonly kind: string;
  /** JSON text. */
  readonly data: string;
}

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<SendEventOptions>(program, terminal, 'send-event', {
    summary: "send an event to an organization's webhooks and print its id",
    production: 'receivers cannot tell the event from a real one',
    async run(target, { organization: organizationId, kind, data }, print) {
      const eventId = newEventId();
      const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
      if (!webhooks.some(({ enabled, kinds }) => enabled && (kinds?.includes(kind) ?? true)))
        target.note(`No enabled webhook of ${organizationId} receives ${kind}: nothing will be delivered.`);
      await putEvent(target, { id: eventId, organizationId, kind, data });
      print({ eventId }, () => eventId);
      target.note(`Its deliveries: ${target.paste(`deliveries --event ${eventId}`)}`);
    },
  })
    .requiredOption('--organization <id>', 'the organization', id('or'))
    .requiredOption('--kind <kind>', 'the event kind, such as wallet.created', producedKind)
    .option('--data <json>', 'event data (JSON)', json, '{}');
}

/** Puts an event on the region's queue, dated now. @throws UsageError if the fan-out would refuse it */
export async function putEvent(target: Target, event: NewEvent): Promise<void> {
  const body = writeEvent(event);
  const parsed = parseEvent(body);
  if (!parsed.ok) throw new UsageError(parsed.error, 'Change --data.');
  await sendMessages(target, 'WebhookEventsQueueUrl', [{ body, group: event.organizationId }]);
}

function producedKind(text: string): string {
  if (!isReservedKind(eventKind(text))) return text;
  throw new InvalidArgumentError('Kinds that begin with "webhook." are reserved for the service itself.');
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
  throw new InvalidArgumentError('Give 1 to 64 letters, digits, - or _, starting with a letter or digit.');
}
