import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentNamed } from '../../lib/environments';
import { sharedInRun } from './once-per-run';
import { wallet } from './wallet-command';

export type LocalEnvironment = ReturnType<typeof openLocalEnvironment>;

/** The environments of this test run, when they are ready. */
export async function localEnvironment(): Promise<LocalEnvironment> {
  return openLocalEnvironment((await sharedInRun('environments')).directory);
}

export function openLocalEnvironment(stateDirectory: string) {
  const read = (name: string) => JSON.parse(readFileSync(join(stateDirectory, name), 'utf8'));
  const outputs: Record<string, Record<string, string>> = read('outputs.json');
  /** The endpoints of the local AWS services: `kms`, `lambda`, `sqs`, … */
  const endpoints: Record<string, string> = read('endpoints.json');
  const walletIn = (environment: string, ...args: string[]) =>
    wallet(...args, '--environment', environment, '--outputs', join(stateDirectory, 'outputs.json'));
  return {
    stateDirectory,
    endpoints,
    /** Outputs of a stack, by the environment's name in the command line's table: in tests their own, in long runs the operator's. */
    outputs: (name: string) => outputs[environmentNamed(name)?.stackId ?? ''] ?? {},
    wallet: walletIn,
    walletJson: async <T>(environment: string, ...args: string[]) =>
      JSON.parse(await walletIn(environment, ...args, '--json')) as T,
  };
}
