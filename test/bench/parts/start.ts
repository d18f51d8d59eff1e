import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environments } from '../../../lib/environments';
import { removePostgres } from '../../../lib/local/postgres/postgres';
import { stateFolder } from '../../../lib/local/state/state';
import { synthesize } from '../../../lib/local/template/synthesis';
import { unusedPort } from '../../support/unused-port';
import { compare, type PartOptions, type PartResult, samplesFor } from '../figures';
import { interleave, time } from '../interleave';

const projectRoot = resolve(__dirname, '../../..');
const patience = 120_000;

/** From `npm start` until every environment has answered a request that a function decides. */
export async function measureStart(options: PartOptions): Promise<PartResult> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-bench-'));
  const state = join(directory, 'state');
  const clear = async () => {
    for (const { name } of environments) {
      await removePostgres(stateFolder(state).environment(name).databaseDirectory);
    }
    await rm(state, { recursive: true, force: true });
  };
  try {
    const rounds = { samples: samplesFor(options, 7), warmUp: 1, signal: options.signal };
    options.onProgress(`${rounds.samples} rounds`);
    const taken = await interleave(
      {
        first: async () => {
          await clear();
          return startOnce(state, options.signal);
        },
        again: () => startOnce(state, options.signal),
        synthesis: () => time(() => synthesize(join(directory, 'assembly'), options.signal)),
      },
      // The second start finds what the first has left; were the order turned, it would find nothing.
      { ...rounds, keepOrder: true },
    );
    const against = 'synthesis alone, without checks';
    return {
      figures: [
        compare(
          { what: 'first answer after npm start, new state', against, unit: 'ms' },
          taken.first,
          taken.synthesis,
        ),
        compare(
          { what: 'first answer after npm start, again', against, unit: 'ms' },
          taken.again,
          taken.synthesis,
        ),
      ],
    };
  } finally {
    await clear();
    await rm(directory, { recursive: true });
  }
}

/** Milliseconds from the start of the command to the last environment's first answer. */
async function startOnce(state: string, signal: AbortSignal): Promise<number> {
  const ports = await Promise.all(environments.map(unusedPort));
  const args = environments.flatMap(({ name }, index) => [
    ...['--port', `${name}=${ports[index]}`],
    ...['--dashboard-port', `${name}=0`],
  ]);
  const begin = performance.now();
  const command = spawn('npm', ['start', '--silent', '--', '--state', state, ...args], {
    cwd: projectRoot,
    stdio: 'ignore',
    // A group of its own: npm does not pass every signal on.
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
