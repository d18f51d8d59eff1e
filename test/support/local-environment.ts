import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environments } from '../../lib/environments';
import { lockHolder } from '../../local/state';
import { wallet } from './wallet-command';

/** Environments that run on a state folder, for tests. */
export interface LocalEnvironment {
  readonly stateDirectory: string;
  /** Outputs of a stack, by the environment's name. */
  outputs(environment: string): Readonly<Record<string, string>>;
  /** The endpoints of the local AWS services: `kms`, `lambda`, `sqs`, … */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Runs a command on an environment and returns its stdout. */
  wallet(environment: string, ...args: string[]): Promise<string>;
  /** As `wallet --json`, parsed. */
  walletJson<T>(environment: string, ...args: string[]): Promise<T>;
}

/** Longer than any start; a failure is reported at once. */
const startTimeoutMs = 60_000;

/** Waits until the environments of this test run are ready. @throws Error with their log when they do not start */
export async function localEnvironment(): Promise<LocalEnvironment> {
  const stateDirectory = process.env.LOCAL_ENVIRONMENT;
  if (!stateDirectory) throw new Error('End-to-end tests belong into test/end-to-end: see jest.config.js.');
  await untilReady(stateDirectory, join(stateDirectory, 'outputs.json'));
  return openLocalEnvironment(stateDirectory);
}

/** The environments that run on a state folder and are ready. */
export function openLocalEnvironment(stateDirectory: string): LocalEnvironment {
  const outputsFile = join(stateDirectory, 'outputs.json');
  const outputs: Record<string, Record<string, string>> = JSON.parse(readFileSync(outputsFile, 'utf8'));
  const walletIn = (environment: string, ...args: string[]) =>
    wallet(...args, '--environment', environment, '--outputs', outputsFile);

  return {
    stateDirectory,
    outputs: (name) => outputs[environments.find((each) => each.name === name)?.stackId ?? ''] ?? {},
    endpoints: JSON.parse(readFileSync(join(stateDirectory, 'endpoints.json'), 'utf8')),
    wallet: walletIn,
    walletJson: async <T>(environment: string, ...args: string[]) =>
      JSON.parse(await walletIn(environment, ...args, '--json')) as T,
  };
}

async function untilReady(stateDirectory: string, outputsFile: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  let begun = false;
  for (;;) {
    if (existsSync(outputsFile)) return;
    const holder = lockHolder(stateDirectory);
    begun ||= holder !== undefined;
    if ((begun && holder === undefined) || Date.now() > deadline) {
      const log = readFileSync(join(stateDirectory, '..', 'start.log'), 'utf8');
      throw new Error(`The local environments did not start:\n${log}`);
    }
    await sleep(50);
  }
}
