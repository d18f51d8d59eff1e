import { resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import { quote } from '../shell-word';
import type { Terminal } from '../terminal';
import { bashCompletion } from './bash';
import { commandTree } from './command-tree';
import { fishCompletion } from './fish';
import { zshCompletion } from './zsh';

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
type Shell = keyof typeof shells;

const help = `
The script also makes "wallet" a command of the shell: the one of this folder, from wherever it is typed. Files are found
from where you are, so give --outputs there.

Examples:
  source <(npm run -s wallet -- completion bash)         for this shell; in ~/.bashrc, for every one
  source <(npm run -s wallet -- completion zsh)
  npm run -s wallet -- completion fish | source
  wallet completion bash > ~/.wallet-completion          to be sourced without starting Node.js each time`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .summary('print a script that makes "wallet" a command of a shell, with completion')
    .description(
      'Prints a script that makes "wallet" a command of a shell, and completes commands, options, environments and formats.',
    )
    .addArgument(new Argument('<shell>', 'whose script to print').choices(Object.keys(shells)))
    .addHelpText('after', help)
    .action((shell: Shell) => terminal.result(shells[shell](commandTree(program), invocation())));
}

/** This very command line, whatever folder the shell is in. */
function invocation(): string {
  const words = ['--require', require.resolve('tsx/cjs'), resolve(__dirname, '../../bin/wallet.ts')];
  return ['node', ...words.map(quote)].join(' ');
}
