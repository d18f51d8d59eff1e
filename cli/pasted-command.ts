import { join, resolve } from 'node:path';
import { type EnvironmentOptions, sameEnvironment } from './options';
import { shellWord } from './shell-word';

// What is printed to be pasted: short in the folder of the project, and right in any other.
const projectRoot = resolve(__dirname, '..');
const isHere = () => process.cwd() === projectRoot;

/** A command of this command line on the same environment. */
export function walletCommand(command: string, options: EnvironmentOptions): string {
  const script = isHere() ? './wallet' : shellWord(join(projectRoot, 'wallet'));
  return [script, command, sameEnvironment(options)].filter(Boolean).join(' ');
}

/** What starts the environments of this machine. */
export const startCommand = isHere() ? 'npm start' : `npm --prefix ${shellWord(projectRoot)} start`;

/** A command that needs the project, such as `npx cdk deploy`. */
export const inProject = (command: string): string =>
  isHere() ? command : `cd ${shellWord(projectRoot)} && ${command}`;
