import { join, resolve } from 'node:path';
import { shellWord } from '../../domain/shell';
import { environments } from '../../lib/environments';

export interface EnvironmentOptions {
  readonly environment: string;
  readonly outputs: string;
}

/** Where `npm start` writes the outputs of this machine's environments, whatever folder a command runs in. */
export const localOutputs = resolve(__dirname, '../../.local/outputs.json');

// Commands are short in the project's folder, and correct in any other.
const projectRoot = resolve(__dirname, '../..');
const isHere = () => process.cwd() === projectRoot;

/**
 * A `wallet` command on the same environment. On this machine without options that equal their defaults; on a deployed one it names the
 * environment, because the default changes with the table.
 */
export function walletCommand(command: string, { environment, outputs }: EnvironmentOptions): string {
  const wallet = isHere() ? './wallet' : shellWord(join(projectRoot, 'wallet'));
  const file = resolve(outputs);
  const isLocal = file === localOutputs;
  const name = isLocal && environment === environments[0]?.name ? '' : ` --environment ${environment}`;
  return `${wallet} ${command}${name}${isLocal ? '' : ` --outputs ${shellWord(file)}`}`;
}

/** A command that runs in the project's folder, such as `npx cdk deploy`. */
export const inProject = (command: string): string =>
  isHere() ? command : `cd ${shellWord(projectRoot)} && ${command}`;

export const startCommand = inProject('npm start');
