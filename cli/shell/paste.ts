import { join, resolve } from 'node:path';
import { environments } from '../../lib/environments';
import { type EnvironmentOptions, localOutputs } from './options';

// Commands to paste: short in the project's folder, and correct in any other.
const projectRoot = resolve(__dirname, '../..');
const isHere = () => process.cwd() === projectRoot;

/** Quotes text as one word for bash, zsh and fish. */
const shellWord = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;

/** A `wallet` command on the same environment, without options that equal their defaults. */
export function walletCommand(command: string, { environment, outputs }: EnvironmentOptions): string {
  const wallet = isHere() ? './wallet' : shellWord(join(projectRoot, 'wallet'));
  const name = environment === environments[0]?.name ? '' : ` --environment ${environment}`;
  const file = resolve(outputs);
  return `${wallet} ${command}${name}${file === localOutputs ? '' : ` --outputs ${shellWord(file)}`}`;
}

/** A command that runs in the project's folder, such as `npx cdk deploy`. */
export const inProject = (command: string): string =>
  isHere() ? command : `cd ${shellWord(projectRoot)} && ${command}`;

/** Starts the environments of this machine. */
export const startCommand = inProject('npm start');
