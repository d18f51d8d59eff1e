import { type Command, InvalidArgumentError } from 'commander';
import { isReservedKind, newEventId } from '../../domain/event';
import { findDifferences, whyRefused } from '../../domain/strict-json';
import { environmentCommand } from '../shell/deployed-environment';
import { runOperation } from '../shell/operations';
import type { Terminal } from '../shell/terminal';
import { customers, eventKind } from './options';
import { checkEvent, putEvent } from './queue';

interface SendEventOptions {
  readonly organization: string;
  readonly kind: string;
  readonly data: string;
  readonly dryRun?: boolean;
}

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<SendEventOptions>(program, terminal, 'send-event', {
    summary: "send an event to an organization's webhooks and print its id",
    production: 'receivers cannot tell the event from a real one',
    async run(target, { organization: organizationId, kind, data, dryRun }, print) {
      const eventId = newEventId();
      const body = checkEvent({ id: eventId, organizationId, kind, data });
      for (const difference of findDifferences(body)) target.note(difference);
      if (dryRun) {
        target.note('The event would be accepted. Nothing was sent.');
        return print(JSON.parse(body), () => body);
      }
      const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
      if (!webhooks.some(({ enabled, kinds }) => enabled && (kinds?.includes(kind) ?? true)))
        target.note(`No enabled webhook of ${organizationId} receives ${kind}: nothing will be delivered.`);
      await putEvent(target, organizationId, body);
      print({ eventId }, () => eventId);
      target.note(`Its deliveries: ${target.walletCommand(`deliveries --event ${eventId}`)}`);
    },
  })
    .requiredOption('--organization <id>', 'the organization', customers('or'))
    .requiredOption('--kind <kind>', 'the event kind, such as wallet.created', producedKind)
    .option('--data <json>', 'event data (JSON)', json, '{}')
    .option('--dry-run', 'check and print the event without sending it');
}

function producedKind(text: string): string {
  if (!isReservedKind(eventKind(text))) return text;
  throw new InvalidArgumentError('Kinds that begin with "webhook." are reserved for the service itself.');
}

function json(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`Give JSON, such as '{"walletId":"wa-1"}': ${(error as Error).message}.`);
  }
  const refusal = whyRefused(`{"data":${text}}`);
  if (refusal) throw new InvalidArgumentError(`It contains ${refusal}`);
  return text.trim();
}
