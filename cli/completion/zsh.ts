import { quote } from '../shell-word';
import { paths, type ValueCase, valueCases } from './cases';
import type { CompletedCommand } from './command-tree';

/** @param invocation the words that start the command line, quoted */
export function zshCompletion(tree: readonly CompletedCommand[], invocation: string): string {
  return `# wallet as a command of zsh, with completion.
wallet() { ${invocation} "$@" }

_wallet() {
  local place='' word index
  local -a choices
  for ((index = 2; index < CURRENT; index++)); do
    word="\${place:+$place }\${words[index]}"
    case $word in
      (${patterns(paths(tree))}) place=$word ;;
    esac
  done
  case "$place \${words[CURRENT - 1]}" in
${valueCases(tree).map(valueCase).join('\n')}
  esac
  case $place in
${tree.map(wordsCase).join('\n')}
  esac
  _describe -o wallet choices
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _wallet wallet`;
}

const valueCase = ({ after, values }: ValueCase): string => {
  const reply =
    values === 'file'
      ? '_files; '
      : values === 'any'
        ? ''
        : `choices=(${values.map(quote).join(' ')}); _describe value choices; `;
  return `    (${patterns(after)}) ${reply}return ;;`;
};

const wordsCase = ({ path, words, options }: CompletedCommand): string => {
  const all = [
    ...words.map(({ word, description }) => `${word}:${description}`),
    ...options.map(({ flag, description }) => `${flag}:${description}`),
  ];
  return `    (${quote(path)}) choices=(${all.map(quote).join(' ')}) ;;`;
};

const patterns = (all: readonly string[]): string => all.map(quote).join('|');
