import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Instance, type Runtime, startProcess } from '../../../local/aws/lambda/instance';
import { writeJson } from '../../../local/state/json';

export type Functions = ReturnType<typeof openFunctions>;

/**
 * Runs functions in processes that can be killed, and that record their memory.
 *
 * @param folder for `preload.cjs`
 */
export function openFunctions(folder: string) {
  const instances = new Set<Instance>();
  let samples = 0;
  const order = () => writeJson(join(folder, 'samples'), samples);
  order();
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
    /** Lets every process record what it holds. Takes much processor time. */
    sampleMemory(): void {
      samples += 1;
      order();
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
