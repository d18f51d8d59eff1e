import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environments } from '../../../../lib/environments';
import { synthesize } from '../../../../local/assembly/synthesis';
import { removePostgres } from '../../../../local/postgres/postgres';
import { stateFolder } from '../../../../local/state';
import { unusedPort } from '../../../support/unused-port';
import { atMost, compare, type PartOptions, type PartResult, roundsOf } from '../figures';
import { interleave, time } from '../interleave';

const projectRoot = resolve(__dirname, '../../../..');
const patience = 120_000;

/** Milliseconds from the start of a command. */
interface Elapsed {
  /** To its first line. */
  readonly line: number;
  /** To the last environment's first answer, or its end. */
  readonly end: number;
}

/** From `npm start` until it says something, and until every environment has answered a request that a function decides. */
export async function measureStart(options: PartOptions): Promise<PartResult> {
  const { cleanup, directory, signal } = options;
  const state = join(directory, 'state');
  const clear = async () => {
    for (const { name } of environments) {
      await removePostgres(stateFolder(state).environment(name).databaseDirectory);
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
      synthesis: async () => {
        const end = await time(() => synthesize(join(directory, 'assembly'), signal));
        return { line: end, end };
      },
    },
    // The second start finds what the first has left; were the order turned, it would find nothing.
    { ...rounds, keepOrder: true },
  );
  const ends = (samples: readonly Elapsed[]) => samples.map(({ end }) => end);
  const against = 'synthesis alone, without checks';
  const what = 'first answer after npm start';
  const lines = [...taken.first, ...taken.again].map(({ line }) => line);
  return {
    figures: [
      compare({ what: `${what}, new state`, against }, ends(taken.first), ends(taken.synthesis)),
      compare({ what: `${what}, again`, against }, ends(taken.again), ends(taken.synthesis)),
      compare({ what: `${what}, again`, against: '1.5 s', goal: atMost(1) }, ends(taken.again), [1_500]),
      compare({ what: 'first line after npm start', against: '0.5 s', goal: atMost(1) }, lines, [500]),
    ],
  };
}

async function startOnce(state: string, signal: AbortSignal): Promise<Elapsed> {
  const offset = (await unusedPort()) - 8_001;
  const ports = environments.map((_, index) => 8_001 + index + offset);
  const begin = performance.now();
  // Detached, in its own process group: npm does not pass every signal on.
  const command = spawn(
    'npm',
    ['start', '--silent', '--', '--state', state, '--port-offset', String(offset)],
    {
      cwd: projectRoot,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    },
  );
  const line = once(command.stderr, 'data').then(() => performance.now() - begin);
  const ended = once(command, 'exit');
  try {
    await Promise.all(ports.map((port) => answered(port, begin + patience, signal)));
    const end = performance.now() - begin;
    return { line: await line, end };
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
