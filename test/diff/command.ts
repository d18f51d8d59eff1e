import { Command } from 'commander';
import { printable } from '../../cli/terminal';
import { runInterruptibly } from '../runs/harness/command';
import { WrongUse, withBothSides } from './base';
import { formatReport } from './report';

/** `npm run diff`: exits with 0 (also when there are differences), 1 (it failed), 2 (used wrongly) or 130 (interrupted). */
const command = new Command('npm run -s diff --')
  .description(
    'Prints, as Markdown, what the working folder changes in every stack against the commit at which it left ' +
      'another branch. Needs no account and no credentials.',
  )
  .requiredOption('--base <ref>', 'branch, tag or commit to compare with, such as main')
  .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
  .parse();

const progress = (line: string) => console.error(`${line}…`);

void runInterruptibly(async (signal) => {
  const { base: reference } = command.opts<{ base: string }>();
  try {
    console.log(printable(await withBothSides(reference, { signal, progress }, formatReport)));
    return 0;
  } catch (error) {
    if (!(error instanceof WrongUse)) throw error;
    console.error(printable(`error: ${error.message}`));
    return 2;
  }
});
