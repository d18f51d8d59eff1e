import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environments } from '../../../../lib/environments';
import { removePostgres } from '../../../../lib/local/postgres/postgres';
import { stateFolder } from '../../../../lib/local/state/state';
import { synthesize } from '../../../../lib/local/template/synthesis';
import { unusedPort } from '../../../support/unused-port';
import { compare, type PartOptions, type PartResult, roundsOf } from '../figures';
import { interleave, time } from '../interleave';

const projectRoot = resolve(__dirname, '../../../..');
const patience = 120_000;

/** From `npm start` until every environment has answered a request that a function decides. */
export async function measureStart(options: PartOptions): Promise<PartResult> {
  const { cleanup, directory, signal } = options;
  const state = join(directory, 'state');
  const clear = async () => {
    for (const environment of environments) {
      await removePostgres(stateFolder(state).environment(environment).databaseDirectory);
    }
    await rm(state, { recursive: true, force: true });
  };
  cleanup.add(clear);
  const rounds = roundsOf(options, 7, 1);
  options.progress(`${rounds.samples} rounds`);
  const taken = await interleave(
    {
      first: async () => {
        await clear();
        return startOnce(state, signal);
      },
      again: () => startOnce(state, signal),
      synthesis: () => time(() => synthesize(join(directory, 'assembly'), signal)),
    },
    // The second start finds what the first has left; were the order turned, it would find nothing.
    { ...rounds, keepOrder: true },
  );
  const against = 'synthesis alone, without checks';
  const what = 'first answer after npm start';
  return {
    figures: [
      compare({ what: `${what}, new state`, against }, taken.first, taken.synthesis),
      compare({ what: `${what}, again`, against }, taken.again, taken.synthesis),
    ],
  };
}

/** Milliseconds from the start of the command to the last environment's first answer. */
async function startOnce(state: string, signal: AbortSignal): Promise<number> {
  const ports = await Promise.all(environments.map(unusedPort));
  const args = environments.flatMap(({ name }, index) => [
    ...['--port', `${name}=${ports[index]}`],
    ...['--dashboard-port', `${name}=0`],
  ]);
  const begin = performance.now();
  // Detached, in its own process group: npm does not pass every signal on.
  const command = spawn('npm', ['start', '--silent', '--', '--state', state, ...args], {
    cwd: projectRoot,
    stdio: 'ignore',
    detached: true,
  });
  const ended = once(command, 'exit');
  try {
    await Promise.all(ports.map((port) => answered(port, begin + patience, signal)));
    return performance.now() - begin;
  } finally {
    process.kill(-(command.pid as number), 'SIGTERM');
    await ended;
  }
}

/** Asks until there is an answer, of the function that looks at tokens, and not only of the gateway. */
async function answered(port: number, deadline: number, signal: AbortSignal): Promise<void> {
  const url = `http://127.0.0.1:${port}/auth/user-groups/ug-aaaaa-aaaaa-aaaaaaaaaaaaaa`;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    const status = await fetch(url, { method: 'DELETE', headers: { authorization: 'Bearer x.y.z' } }).then(
      (response) => response.status,
      () => undefined,
    );
    if (status === 401) return;
    if (status !== undefined) throw new Error(`Answered with ${status}.`);
    await sleep(10);
  }
  throw new Error('Not answered in time.');
}
