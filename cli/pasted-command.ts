import { join, resolve } from 'node:path';
import { environments } from '../lib/environments';
import { type EnvironmentOptions, localOutputs } from './options';

// What is printed to be pasted: short in the folder of the project, and right in any other.
const projectRoot = resolve(__dirname, '..');
const isHere = () => process.cwd() === projectRoot;

/** As one word of bash, zsh and fish. */
const shellWord = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;

/** A command of this command line on the same environment; options that are the default are left out. */
export function walletCommand(command: string, { environment, outputs }: EnvironmentOptions): string {
  const wallet = isHere() ? './wallet' : shellWord(join(projectRoot, 'wallet'));
  const name = environment === environments[0]?.name ? '' : ` --environment ${environment}`;
  const file = resolve(outputs);
  return `${wallet} ${command}${name}${file === localOutputs ? '' : ` --outputs ${shellWord(file)}`}`;
}

/** A command that needs the project, such as `npx cdk deploy`. */
export const inProject = (command: string): string =>
  isHere() ? command : `cd ${shellWord(projectRoot)} && ${command}`;

/** What starts the environments of this machine. */
export const startCommand = inProject('npm start');
