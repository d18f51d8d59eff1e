import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Runs a tool to its end: at most a minute. */
export async function run(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  const deadline = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const [exitCode] = await once(child, 'close');
  clearTimeout(deadline);
  return { exitCode, output: output() };
}

function collect({ stdout, stderr }: ChildProcess): () => string {
  const chunks: Buffer[] = [];
  for (const stream of [stdout, stderr]) stream?.on('data', (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
