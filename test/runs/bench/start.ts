import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environments } from '../../../lib/environments';
import { removePostgres } from '../../../local/postgres/postgres';
import { stateFolder } from '../../../local/state/paths';
import { unusedPort } from '../../support/http-server';
import { projectRoot } from '../long-run';
import { type Figure, interleave, type PartOptions } from './measure';

/** From `npm start` to its first line, and until a function in every environment has responded. */
export async function measureStart(options: PartOptions): Promise<Figure[]> {
  const { cleanup, directory, signal } = options;
  const state = join(directory, 'state');
  const clear = async () => {
    for (const { name } of environments)
      await removePostgres(stateFolder(state).environment(name).databaseDirectory);
    await rm(state, { recursive: true, force: true });
  };
  cleanup.add(clear);
  const firstLine: number[] = [];
  const start = async () => {
    const taken = await startOnce(state, signal);
    firstLine.push(taken.firstLine);
    return taken.response;
  };
  const { fresh, again } = await interleave({ fresh: () => clear().then(start), again: start }, 7, options);
  const limited = { against: 'the limit', unit: 'ms', goal: 1 } as const;
  return [
    { ...limited, what: 'first response, new state', value: fresh, baseline: [6_000] },
    { ...limited, what: 'first response, again', value: again, baseline: [1_500] },
    { ...limited, what: 'first line', value: firstLine, baseline: [500] },
  ];
}

async function startOnce(state: string, signal: AbortSignal) {
  const offset = (await unusedPort()) - 8_001;
  const ports = environments.map((_, index) => 8_001 + index + offset);
  const began = performance.now();
  const args = ['start', '--silent', '--', '--state', state, '--port-offset', String(offset)];
  // In its own process group: npm does not pass every signal on.
  const stdio = ['ignore', 'ignore', 'pipe'] as const;
  const command = spawn('npm', args, { cwd: projectRoot, stdio: [...stdio], detached: true });
  const line = once(command.stderr, 'data').then(() => performance.now() - began);
  const ended = once(command, 'exit');
  try {
    await Promise.all(ports.map((port) => answered(port, signal)));
    return { firstLine: await line, response: performance.now() - began };
  } finally {
    process.kill(-(command.pid as number), 'SIGTERM');
    await ended;
  }
}

/** Sends requests until the authorizer function responds, not only the gateway. */
async function answered(port: number, signal: AbortSignal): Promise<void> {
  const url = `http://127.0.0.1:${port}/auth/user-groups/ug-aaaaa-aaaaa-aaaaaaaaaaaaaa`;
  const patience = AbortSignal.any([signal, AbortSignal.timeout(120_000)]);
  for (;;) {
    patience.throwIfAborted();
    const headers = { authorization: 'Bearer x.y.z' };
    const response = await fetch(url, { method: 'DELETE', headers }).catch(() => undefined);
    if (response?.status === 401) return;
    if (response) throw new Error(`Unexpected response: ${response.status}`);
    await sleep(10);
  }
}
