import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../support/temporary-folder';

export interface Outcome {
  readonly exitCode: number | null;
  readonly output: string;
}

/** A temporary folder for each test. */
export function toolFolder() {
  const path = temporaryFolder();
  beforeEach(() => chmodSync(path(), 0o755));
  return {
    path,
    write(name: string, text: string): string {
      const file = join(path(), name);
      writeFileSync(file, text);
      return file;
    },
  };
}

const start = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess =>
  spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Runs a tool to its end: at most a minute. */
export async function run(
  command: string,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const child = start(command, args, env);
  const output = collect(child);
  const deadline = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const [exitCode] = await once(child, 'close');
  clearTimeout(deadline);
  return { exitCode, output: output() };
}

export interface Server {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a server in the foreground. @returns, when it accepts connections, what ends it */
export async function serve(server: Server, port: number): Promise<() => Promise<void>> {
  const child = start(server.command, server.args, server.env);
  const output = collect(child);
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'close');
  };
  await accepts(port, child, output).catch(async (error) => {
    await stop();
    throw error;
  });
  return stop;
}

async function accepts(port: number, child: ChildProcess, output: () => string): Promise<void> {
  for (let attempt = 0; attempt < 100 && child.exitCode === null; attempt++) {
    const signal = AbortSignal.timeout(1000);
    if (await fetch(`http://127.0.0.1:${port}/`, { signal }).catch(() => undefined)) return;
    await delay(50);
  }
  throw new Error(`${child.spawnfile} does not serve: ${output()}`);
}

function collect({ stdout, stderr }: ChildProcess): () => string {
  const chunks: Buffer[] = [];
  for (const stream of [stdout, stderr]) stream?.on('data', (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
