import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instance, type Runtime, startProcess } from '../../../local/lambda/instance';
import { writeJson } from '../../../local/state';
import type { MemorySample } from './invariants';

/** Milliseconds until every process has read its orders and followed them. */
const reactionTime = 1_000;

/** Runs functions in processes that can be killed, whose clocks can be set, and that report their memory. */
export class Functions {
  private readonly instances = new Set<Instance>();
  private orders = { clock: 0, memory: 0 };

  /** @param folder for the orders and reports of `preload.cjs` */
  constructor(private readonly folder: string) {}

  readonly runtime: Runtime = async (code) => {
    const preload = {
      NODE_OPTIONS: `--require ${join(__dirname, 'preload.cjs')}`,
      ENDURANCE_ORDERS: this.folder,
    };
    const instance = await startProcess({ ...code, environment: { ...code.environment, ...preload } });
    if ('ok' in instance) return instance;
    this.instances.add(instance);
    void instance.ended.then(() => this.instances.delete(instance));
    return instance;
  };

  /** Kills each process, idle or busy, with this probability. */
  kill(probability: number): void {
    for (const instance of this.instances) if (Math.random() < probability) instance.kill();
  }

  /** @param clock seconds by which every clock is off */
  setClock = (clock: number) => this.order({ clock });

  async sampleMemory(): Promise<readonly MemorySample[]> {
    const memory = this.orders.memory + 1;
    await this.order({ memory });
    return readdirSync(this.folder)
      .filter((name) => name.startsWith(`${memory}-`))
      .map((name) => JSON.parse(readFileSync(join(this.folder, name), 'utf8')));
  }

  private async order(change: Partial<typeof this.orders>): Promise<void> {
    this.orders = { ...this.orders, ...change };
    writeJson(join(this.folder, 'orders'), this.orders);
    await sleep(reactionTime);
  }
}
