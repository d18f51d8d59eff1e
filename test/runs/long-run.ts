import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { endingSignals } from '../../cli/shell/interruption';
import { printable } from '../../domain/printable';
import { Cleanup } from '../../local/shared/cleanup';
import { startLocalCommand } from '../support/local-command';

// Silences the SDK's warnings about future Node.js requirements.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

// A git hook's variables name the repository and the index of its commit. `GIT_CONFIG_…` is the caller's configuration.
for (const name of spawnSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' }).stdout?.split(
  '\n',
) ?? [])
  if (!name.startsWith('GIT_CONFIG')) delete process.env[name];

/** Creates a folder that `cleanup` removes, even while an interrupted process still writes into it. */
export async function temporaryFolder(cleanup: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-run-'));
  cleanup.add(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

export interface Harness {
  /** Aborted by Ctrl-C, SIGTERM and a closed terminal. */
  readonly signal: AbortSignal;
  /** Run at the end, even then. */
  readonly cleanup: Cleanup;
  /** Writes a line to stderr, after the time. */
  progress(line: string): void;
}

/** `npm start` of the project in a folder, on a state folder and free ports, when it is ready. It ends with the run. */
export async function startProject(directory: string, state: string, { signal, cleanup }: Harness) {
  const command = startLocalCommand(directory, '--state', state, '--port-offset', 'any');
  const stop = async () => {
    command.process.kill('SIGTERM');
    await command.ended();
  };
  cleanup.add(stop);
  signal.addEventListener('abort', stop);
  await command.ready();
  return { processes: command.processes, stop };
}

/** Runs a command of package.json: exits with 0, 1 (a check or the run failed), 2 (usage error) or 130 (interrupted). */
export async function longRun<Options>(
  command: Command,
  run: (options: Options, harness: Harness) => Promise<{ readonly report: string; readonly failed: boolean }>,
): Promise<void> {
  command.exitOverride(({ exitCode }) => process.exit(exitCode && 2)).parse();
  const interruption = new AbortController();
  const { signal } = interruption;
  for (const ending of endingSignals) process.on(ending, () => interruption.abort());
  const progress = (line: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
  const cleanup = new Cleanup();
  try {
    const running = run(command.opts() as Options, { signal, cleanup, progress });
    const { report, failed } = await running.finally(() => cleanup.run());
    console.log(report);
    process.exitCode = failed ? 1 : 0;
  } catch (error) {
    process.exitCode = 1;
    // An interruption causes others.
    if (!signal.aborted) console.error(printable(`${(error as Error).stack}`));
  }
  if (!signal.aborted) return;
  process.exitCode = 130;
  console.error('Interrupted.');
}
