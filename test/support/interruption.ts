import { endingSignals } from '../../lib/operations/interruption';

/**
 * Runs a command to its exit code. Ctrl-C, a closed terminal and SIGTERM abort the signal that it gets, and do no more:
 * the command ends what it has started. What goes wrong from then on is of the interruption, and not told.
 */
export async function runInterruptibly(command: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const interruption = new AbortController();
  for (const name of endingSignals) process.on(name, () => interruption.abort());
  const exitCode = await command(interruption.signal).catch((error: Error) => {
    if (!interruption.signal.aborted) console.error(error.stack);
    return 1;
  });
  if (interruption.signal.aborted) console.error('Interrupted.');
  process.exitCode = interruption.signal.aborted ? 130 : exitCode;
}
