import { type Terminal, table } from '../terminal';
import type { Outcome } from './run';

export interface Run {
  readonly outcomes: readonly Outcome[];
  readonly dryRun: boolean;
  readonly interrupted: boolean;
  readonly json: boolean | undefined;
}

/** Prints what became of the messages. */
export function print({ outcomes, dryRun, interrupted, json }: Run, terminal: Terminal): void {
  const sum = (some: readonly Outcome[]) => some.reduce((total, { messages }) => total + messages, 0);
  const redelivered = sum(outcomes.filter(({ keptBecause }) => keptBecause === null));
  const kept = sum(outcomes) - redelivered;
  if (json) {
    terminal.result(JSON.stringify({ redelivered, kept, dryRun, interrupted, outcomes }));
    return;
  }
  const rows = outcomes.map(({ webhookId, reason, keptBecause, messages }) => [
    webhookId ?? '-',
    reason ?? 'received too often',
    String(messages),
    keptBecause ? `stays: ${keptBecause}` : dryRun ? 'would be sent' : 'sent',
  ]);
  if (rows.length > 0)
    terminal.result(table([['WEBHOOK', 'REASON', 'MESSAGES', ''], ...rows], terminal.bold));
  const done = dryRun ? 'Would redeliver' : 'Redelivered';
  const rest = interrupted ? ' Interrupted: run it again for the rest.' : '';
  terminal.note(`${done} ${redelivered}, left ${kept}.${rest}`);
}

/** Passes on what it is told, once a second at most. */
export function everySecond(report: (looked: number) => void): (looked: number) => void {
  let last = Date.now();
  return (looked) => {
    if (Date.now() - last < 1_000) return;
    last = Date.now();
    report(looked);
  };
}
