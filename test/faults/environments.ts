import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../lib/environment/environment';
import type { Cleanup } from '../../lib/local/cleanup';
import { removePostgres } from '../../lib/local/postgres/postgres';
import { commandLine } from '../../lib/local/processes';
import { stateFolder } from '../../lib/local/state/state';
import type { LocalEnvironment } from '../support/local-environment';
import { startPreloadedEnvironments } from '../support/preloaded-environments';

/** Environments that can be troubled from outside. */
export interface TroubledEnvironments {
  readonly local: LocalEnvironment;
  /** Where an environment's database has a disk of its own, which can be filled; undefined where it has none. */
  diskOf(environment: string): string | undefined;
  /** Why databases have no disks of their own; undefined when they have. */
  readonly noDisks: string | undefined;
  /** Resets every connection to the queues' endpoint, or no longer. */
  resetQueues(on: boolean): Promise<void>;
  /** Puts the clock of every function off by so many seconds; 0 is the right time. */
  stepClock(seconds: number): Promise<void>;
  /** Ids of the functions' processes. */
  functionProcesses(): number[];
  /** Copies the logs to a folder that outlives the run, and gives its path. */
  keepLogs(): Promise<string>;
}

/** MiB. The cluster is 40, its log at most 80 before it is used again, and a few tables. */
const diskSize = 256;

/** Runs `npm start` with what `inside` adds, in a temporary folder, on free ports. */
export async function startTroubledEnvironments(
  environments: readonly Environment[],
  cleanup: Cleanup,
): Promise<TroubledEnvironments> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-faults-'));
  cleanup.add(() => rm(directory, { recursive: true }));
  const control = join(directory, 'control');
  await mkdir(control);
  const disks = await makeDisks(directory, environments, cleanup);

  const { local, command } = await startPreloadedEnvironments(cleanup, {
    directory,
    environments,
    script: join(__dirname, 'inside', 'environment.cjs'),
    variables: { FAULTS_CONTROL: control },
  });
  const set = (name: string, content: string | undefined) =>
    content === undefined
      ? rm(join(control, name), { force: true })
      : writeFile(join(control, name), content);
  return {
    local,
    diskOf: (environment) => disks.folders.get(environment),
    noDisks: disks.problem,
    resetQueues: (on) => set('queue-resets', on ? new URL(local.endpoints.sqs ?? '').port : undefined),
    stepClock: (seconds) => set('clock', seconds === 0 ? undefined : String(seconds)),
    functionProcesses: () =>
      command.processes().filter((pid) => commandLine(pid).includes('function-runtime/bootstrap.cjs')),
    async keepLogs() {
      const kept = await mkdtemp(join(tmpdir(), 'wallet-faults-logs-'));
      await cp(join(directory, 'logs'), kept, { recursive: true });
      return kept;
    },
  };
}

/** Gives each database a small file system of its own, which only root can make, and only on Linux. */
async function makeDisks(directory: string, environments: readonly Environment[], cleanup: Cleanup) {
  const folders = new Map<string, string>();
  for (const { name } of environments) {
    const folder = stateFolder(directory).environment(name).databaseDirectory;
    await mkdir(folder, { recursive: true });
    cleanup.add(async () => {
      if (folders.has(name)) execFileSync('umount', [folder]);
      else await removePostgres(folder);
    });
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskSize}m,mode=0700`, 'wallet-faults', folder], {
        stdio: 'pipe',
      });
      folders.set(name, folder);
    } catch (error) {
      return { folders, problem: `no file system can be made here: ${firstLine((error as Error).message)}` };
    }
  }
  return { folders, problem: undefined };
}

const firstLine = (text: string) => text.trim().split('\n').at(-1) ?? '';
