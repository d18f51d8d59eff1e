import type { Command } from 'commander';
import { createProgram } from '../../cli/command-line';

export const silent = { result() {}, note() {}, bold: String, bad: String, alarm: String };

/** The commands with an action, by name, such as `webhook add`. */
export const walletCommands = leaves(createProgram(silent), []);

function leaves(command: Command, words: readonly string[]): [path: string, command: Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => leaves(each, [...words, each.name()]));
}

export const flagsOf = (path: string): readonly (string | undefined)[] | undefined =>
  walletCommands.find(([known]) => known === path)?.[1].options.map(({ long }) => long);
