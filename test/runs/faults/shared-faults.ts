import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { oneOf } from '../harness/random';
import { type FaultKind, signalProcess } from './kind';

/** Faults of what all environments share. */
export const sharedFaults: readonly FaultKind[] = [
  {
    // Every 300 ms, half of the functions' processes are ended by SIGKILL, idle or busy.
    name: 'functions-killed',
    reach: 'all',
    troublesDeletions: true,
    lasts: [2_000, 5_000],
    async begin({ functionProcesses }, _place, random) {
      const timer = setInterval(() => {
        for (const pid of functionProcesses()) if (random() < 0.5) signalProcess(pid, 'SIGKILL');
      }, 300);
      return async () => clearInterval(timer);
    },
  },
  {
    // Every connection to the queues is reset, those that wait for messages included: some requests are carried out
    // though their answer is lost. The emulator keeps messages in memory: its restart would lose them, as SQS never does.
    name: 'queues-reset',
    reach: 'all',
    troublesDeletions: false,
    losesReaders: true,
    lasts: [2_000, 6_000],
    begin: ({ control, local }) => ask(control, 'queue-resets', new URL(local.endpoints.sqs ?? '').port),
  },
  {
    // Requests are answered with 500, 429 or a redirect, slowly, not at all, or by a reset.
    name: 'receivers-misbehaving',
    reach: 'all',
    troublesDeletions: false,
    lasts: [3_000, 8_000],
    async begin({ fickle }) {
      fickle.misbehaves = true;
      return async () => {
        fickle.misbehaves = false;
      };
    },
  },
  {
    // The clock of every function is put forward or back, and right again: by minutes, so that no delivery's 72 hours of
    // retries can have passed.
    name: 'clock-stepped',
    reach: 'all',
    troublesDeletions: true,
    lasts: [2_000, 6_000],
    begin: ({ control }, _place, random) =>
      ask(control, 'clock', String(oneOf(random, [-120, -30, 30, 120]))),
  },
];

/** Has the preloaded script make a fault, and gives what ends it. */
async function ask(control: string, name: string, content: string): Promise<() => Promise<void>> {
  const file = join(control, name);
  await writeFile(file, content);
  return () => rm(file);
}
