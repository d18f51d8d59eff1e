import type { Command } from 'commander';

/**
 * Rewrites `help webhook add` to `webhook add --help`: commander's own help command knows the first word alone, and
 * prints everything for one that it does not know. An unknown word stays as it is, to be refused like a command.
 */
export function formatHelp(program: Command, args: readonly string[]): readonly string[] {
  const [first, ...words] = args;
  if (first !== 'help') return args;
  const path: string[] = [];
  let command = program;
  for (const word of words) {
    if (command.commands.length === 0) break;
    path.push(word);
    const next = command.commands.find((each) => each.name() === word);
    if (!next) return path;
    command = next;
  }
  return [...path, '--help'];
}
