import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { endingSignals } from '../../cli/interruption';
import { columns } from '../../cli/terminal';
import { printable } from '../../domain/printable';
import type { Cleanup } from '../../local/cleanup';

// Silences the SDK's warnings about future Node.js requirements.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

/** This project. */
export const projectRoot = resolve(__dirname, '../..');

/** Creates a folder that `cleanup` removes, even while an interrupted process still writes into it. */
export async function temporaryFolder(cleanup: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-run-'));
  cleanup.add(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

export interface Harness {
  /** Aborted by Ctrl-C, SIGTERM and a closed terminal. The run then stops what it started. */
  readonly signal: AbortSignal;
  /** Writes a line to stderr, after the time. */
  progress(line: string): void;
}

export interface Outcome {
  /** For stdout. */
  readonly report: string;
  readonly failed: boolean;
}

export interface LongRun<Options> {
  /** As in `npm run NAME`. */
  readonly name: string;
  readonly description: string;
  /** Adds the options and arguments. */
  declare(command: Command): Command;
  run(options: Options, harness: Harness, args: readonly unknown[]): Promise<Outcome>;
}

/** Runs a command of package.json: exits with 0, 1 (a check or the run failed), 2 (usage error) or 130 (interrupted). */
export async function longRun<Options>({ name, description, declare, run }: LongRun<Options>): Promise<void> {
  const command = declare(new Command(`npm run ${name} --`).description(description))
    .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
    .parse();
  const interruption = new AbortController();
  const { signal } = interruption;
  for (const ending of endingSignals) process.on(ending, () => interruption.abort());
  const progress = (line: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
  try {
    const outcome = await run(command.opts() as Options, { signal, progress }, command.processedArgs);
    signal.throwIfAborted();
    if (outcome.report) console.log(outcome.report);
    process.exitCode = outcome.failed ? 1 : 0;
  } catch (error) {
    // Caused by the interruption.
    const { message, stack } = error as Error;
    const isForPeople = (error as Error).constructor === Error;
    if (!signal.aborted) console.error(printable(isForPeople ? `error: ${message}` : `${stack}`));
    process.exitCode = signal.aborted ? 130 : 1;
  }
  if (signal.aborted) console.error('Interrupted.');
}

/** Reads an option's whole number. */
export const numberFrom =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (value >= least && value <= most && Number.isSafeInteger(value)) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };

export const newSeed = () => Date.now() % 2 ** 31;

export const oneOf = <T>(choices: readonly T[]): T =>
  choices[Math.floor(Math.random() * choices.length)] as T;

/** The lower one for an even number of samples; NaN for none. */
export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
}

/** Counts checks, and records each violation. */
export class Checks {
  private readonly byName = new Map<string, { times: number; readonly violations: string[] }>();

  /** @param problem what is wrong @default - nothing */
  hold(name: string, problem?: string | false, times = 1): void {
    const check = this.byName.get(name) ?? { times: 0, violations: [] };
    this.byName.set(name, check);
    check.times += times;
    if (problem) check.violations.push(problem);
  }

  get violations(): readonly string[] {
    return [...this.byName.values()].flatMap(({ violations }) => violations);
  }

  /** A line for each check, with its first violations. */
  format(): string {
    const shown = 10;
    return [...this.byName]
      .flatMap(([name, { times, violations }]) => [
        `${violations.length === 0 ? 'holds ' : 'BROKEN'}  ${name} (${times})`,
        ...violations.slice(0, shown).map((violation) => `          ${violation}`),
        ...(violations.length > shown ? [`          and ${violations.length - shown} more`] : []),
      ])
      .join('\n');
  }
}

/** Rows as text; the keys of the first are the headings. */
export function formatTable(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const cells = rows.map((row) => Object.values(row).map(String));
  return rows.length === 0 ? '' : columns([Object.keys(rows[0] ?? {}), ...cells]).join('\n');
}

/** Integers unchanged, others with about three digits. */
export const formatNumber = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
