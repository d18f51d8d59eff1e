import { Command } from 'commander';

/** The command line of `npm run NAME`. Used wrongly it ends with exit code 2, as `wallet` and `npm start` do. */
export function longRun(name: string): Command {
  return new Command(`npm run ${name} --`).exitOverride(({ exitCode }) => process.exit(exitCode && 2));
}
