import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environments } from '../../lib/environments';
import { sharedInRun } from './once-per-run';
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

/** The environments of this test run, when they are ready. */
export async function localEnvironment(): Promise<LocalEnvironment> {
  return openLocalEnvironment((await sharedInRun('environments')).directory);
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
