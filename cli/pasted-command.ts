import { resolve } from 'node:path';
import { type EnvironmentOptions, sameEnvironment } from './options';
import { shellWord } from './shell-word';

// What is printed to be pasted: it works in a shell in any folder. The folder of `package.json` is named therefore, and
// npm runs its scripts there.
const projectRoot = resolve(__dirname, '..');

/** A command of this command line on the same environment. */
export const walletCommand = (command: string, options: EnvironmentOptions, root = projectRoot): string =>
  `npm --prefix ${shellWord(root)} run -s wallet -- ${command} ${sameEnvironment(options)}`;

/** What starts the environments of this machine. */
export const startCommand = `npm --prefix ${shellWord(projectRoot)} start`;

/** A command that needs the project, such as `npx cdk deploy`. */
export const inProject = (command: string): string => `cd ${shellWord(projectRoot)} && ${command}`;
