import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instance, type Runtime, startProcess } from '../../../local/aws/lambda/instance';
import { writeJson } from '../../../local/state/json';

/** Milliseconds until every process has read its orders and followed them. */
const reactionTime = 1_000;

export type Functions = ReturnType<typeof openFunctions>;

/**
 * Runs functions in processes that can be killed, whose clocks can be shifted, and that record their memory.
 *
 * @param folder for `preload.cjs`
 */
export function openFunctions(folder: string) {
  const instances = new Set<Instance>();
  const orders = { clock: 0, sample: 0 };
  const write = () => writeJson(join(folder, 'orders'), orders);
  write();
  const runtime: Runtime = async (code) => {
    const preload = `--require ${join(__dirname, 'preload.cjs')}`;
    const variables = { ...code.variables, NODE_OPTIONS: preload, ENDURANCE_FOLDER: folder };
    const instance = await startProcess({ ...code, variables });
    if ('ok' in instance) return instance;
    instances.add(instance);
    void instance.ended.then(() => instances.delete(instance));
    return instance;
  };
  return {
    runtime,
    /** Kills each process, idle or busy, with this probability. */
    kill(probability: number): void {
      for (const instance of instances) if (Math.random() < probability) instance.kill();
    },
    /** Shifts every clock by these seconds. */
    async shiftClocks(seconds: number): Promise<void> {
      orders.clock = seconds;
      write();
      await sleep(reactionTime);
    },
    /** Lets every process record what it holds. Takes much processor time. */
    sampleMemory(): void {
      orders.sample += 1;
      write();
    },
    /** The samples of each process in bytes after garbage collection, by function and process id. */
    memory: (): ReadonlyMap<string, readonly number[]> =>
      new Map(
        readdirSync(folder)
          .filter((name) => name.startsWith('memory-'))
          .map((name) => [name, readFileSync(join(folder, name), 'utf8').trim().split('\n').map(Number)]),
      ),
  };
}
