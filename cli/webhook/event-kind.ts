import { InvalidArgumentError } from 'commander';
import { isEventKind } from '../../domain/event';

/** Reads the kind of an event, such as `wallet.created`, as the events queue takes it. */
export function eventKind(text: string): string {
  if (isEventKind(text)) return text;
  throw new InvalidArgumentError(
    'Give a kind such as wallet.created: 1 to 128 letters, digits or any of . _ : / -, the first a letter or digit.',
  );
}

/** Reads kinds with commas between. */
export const eventKinds = (text: string): readonly string[] => text.split(',').map(eventKind);
