import type { Command, Option } from 'commander';

/** What can follow an option or stand for an argument: nothing, one of some words, a file, or what only a person knows. */
export type Values = 'none' | 'any' | 'file' | readonly string[];

export interface CompletedOption {
  /** `--environment` */
  readonly flag: string;
  readonly description: string;
  readonly values: Values;
}

/** A command with what can follow it. */
export interface CompletedCommand {
  /** Its words, `webhook add`; empty for the program itself. */
  readonly path: string;
  /** Commands and words of arguments. */
  readonly words: readonly { readonly word: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
}

/**
 * Reads the commands from the program itself, so that completion knows exactly what there is. The scripts hold all of it:
 * `@bomb.sh/tab` 0.0.22, the library that knows commander, starts Node.js at each Tab, which takes 0.7 s here.
 */
export function commandTree(program: Command): readonly CompletedCommand[] {
  return walk(program, '');
}

function walk(command: Command, path: string): readonly CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const words = [
    ...subcommands.map((each) => ({ word: each.name(), description: each.summary() || each.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((word) => ({ word, description })),
    ),
  ];
  const options = help
    .visibleOptions(command)
    .flatMap((option) =>
      option.long ? [{ flag: option.long, description: option.description, values: valuesOf(option) }] : [],
    );
  return [
    { path, words, options },
    ...command.commands.flatMap((each) => walk(each, `${path} ${each.name()}`.trim())),
  ];
}

/** A placeholder `<file>` says that a file is meant. */
function valuesOf(option: Option): Values {
  if (option.argChoices) return option.argChoices;
  if (!option.required && !option.optional) return 'none';
  return option.flags.endsWith('<file>') ? 'file' : 'any';
}
