import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../support/temporary-folder';
import { toolPath } from './required-tools';

export interface Outcome {
  readonly exitCode: number | null;
  readonly output: string;
}

/** A temporary folder for each test, which servers under another user can read, too. */
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
    env: { ...process.env, PATH: toolPath, ...env },
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

/** Runs a server while `use` runs. */
export async function whileServing<T>(server: Server, port: number, use: () => Promise<T>): Promise<T> {
  const stop = await serve(server, port);
  return use().finally(stop);
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

/** The status of `GET /hook`, asked for from one of this machine's own addresses. */
export async function statusFrom(localAddress: string, port: number): Promise<number | undefined> {
  const signal = AbortSignal.timeout(5000);
  const request = get({ host: '127.0.0.1', port, path: '/hook', localAddress, agent: false, signal });
  const [response] = await once(request, 'response');
  response.resume();
  return response.statusCode;
}
