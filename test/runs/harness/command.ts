import { Command } from 'commander';
import { endingSignals } from '../../../cli/interruption';
import { printable } from '../../../domain/printable';

// What later versions of the SDK will ask of Node.js is no news here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

export interface Harness {
  /** Aborted by Ctrl-C, SIGTERM and a closed terminal. The run then ends what it has started. */
  readonly signal: AbortSignal;
  /** Writes a line to stderr, after the time. */
  progress(line: string): void;
}

export interface LongRun<Options> {
  /** As in `npm run NAME`. */
  readonly name: string;
  readonly description: string;
  /** Adds the options, and perhaps arguments. */
  declare(command: Command): Command;
  /** Gives the text for stdout and whether a check failed. */
  run(options: Options, harness: Harness, args: readonly unknown[]): Promise<Outcome>;
}

export interface Outcome {
  readonly report: string;
  readonly failed: boolean;
}

/** A command of package.json: exits with 0, 1 (a check or the run failed), 2 (used wrongly) or 130 (interrupted). */
export async function longRun<Options>({ name, description, declare, run }: LongRun<Options>): Promise<void> {
  const command = declare(new Command(`npm run ${name} --`).description(description))
    .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
    .parse();
  await runInterruptibly(async (signal) => {
    const { report, failed } = await run(
      command.opts() as Options,
      { signal, progress },
      command.processedArgs,
    );
    signal.throwIfAborted();
    if (report) console.log(report);
    return failed ? 1 : 0;
  });
}

const progress = (line: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);

/** Runs a command to its exit code. Errors after an interruption follow from it and are not told. */
export async function runInterruptibly(command: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const interruption = new AbortController();
  for (const name of endingSignals) process.on(name, () => interruption.abort());
  const exitCode = await command(interruption.signal).catch((error: Error) => {
    // A plain error is written for people; others are bugs, and need the stack.
    const text = error.constructor === Error ? `error: ${error.message}` : error.stack;
    if (!interruption.signal.aborted) console.error(printable(text ?? ''));
    return 1;
  });
  if (interruption.signal.aborted) console.error('Interrupted.');
  process.exitCode = interruption.signal.aborted ? 130 : exitCode;
}
