import { quote } from '../shell-word';
import { paths } from './cases';
import type { CompletedCommand, CompletedOption } from './command-tree';

/** @param invocation the words that start the command line, quoted */
export function fishCompletion(tree: readonly CompletedCommand[], invocation: string): string {
  return `# wallet as a command of fish, with completion.
function wallet
  ${invocation} $argv
end

function __wallet_at --argument-names expected
  set -l path
  for word in (commandline -opc)[2..-1]
    set -l longer (string join -- ' ' $path $word)
    if contains -- $longer ${paths(tree).map(quote).join(' ')}
      set path $longer
    end
  end
  test "$path" = "$expected"
end

complete -c wallet -e
complete -c wallet -f
${tree.flatMap(completions).join('\n')}`;
}

function completions({ path, words, options }: CompletedCommand): readonly string[] {
  const here = `complete -c wallet -n ${quote(`__wallet_at ${quote(path)}`)}`;
  return [
    ...words.map(({ word, description }) => `${here} -a ${quote(word)} -d ${quote(description)}`),
    ...options.map(
      (option) => `${here} -l ${option.flag.slice(2)}${values(option)} -d ${quote(option.description)}`,
    ),
  ];
}

/** `-x` takes a value that is no file, `-r` one that may be. */
function values({ values: known }: CompletedOption): string {
  if (known === 'none') return '';
  if (known === 'file') return ' -r -F';
  return known === 'any' ? ' -x' : ` -x -a ${quote(known.join(' '))}`;
}
