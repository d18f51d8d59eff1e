import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environments } from '../../lib/environments';
import { eventually } from './eventually';
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

/** Waits until the environments of this test run are ready. @throws Error with their log when they do not start */
export async function localEnvironment(): Promise<LocalEnvironment> {
  const stateDirectory = process.env.LOCAL_ENVIRONMENT;
  if (!stateDirectory) throw new Error('End-to-end tests belong into test/end-to-end: see jest.config.js.');
  const log = join(stateDirectory, '..', 'start.log');
  await eventually(() => existsSync(join(stateDirectory, 'outputs.json')), 60).catch(() => {
    throw new Error(`The local environments did not start:\n${readFileSync(log, 'utf8')}`);
  });
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
