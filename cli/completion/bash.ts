import { quote } from '../shell-word';
import { paths, type ValueCase, valueCases } from './cases';
import type { CompletedCommand } from './command-tree';

/** @param invocation the words that start the command line, quoted */
export function bashCompletion(tree: readonly CompletedCommand[], invocation: string): string {
  return `# wallet as a command of bash, with completion.
wallet() { ${invocation} "$@"; }

_wallet() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local path='' word words='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${path:+$path }\${COMP_WORDS[index]}"
    case $word in
      ${patterns(paths(tree))}) path=$word ;;
    esac
  done
  # Bash splits --option=value at the sign.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case "$path $previous" in
${valueCases(tree).map(valueCase).join('\n')}
  esac
  case $path in
${tree.map(wordsCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _wallet wallet`;
}

const valueCase = ({ after, values }: ValueCase): string => {
  const reply =
    values === 'file'
      ? `local IFS=$'\\n'; compopt -o filenames; COMPREPLY=($(compgen -f -- "$current")); `
      : values === 'any'
        ? ''
        : `COMPREPLY=($(compgen -W ${quote(values.join(' '))} -- "$current")); `;
  return `    ${patterns(after)}) ${reply}return ;;`;
};

const wordsCase = ({ path, words, options }: CompletedCommand): string => {
  const all = [...words.map(({ word }) => word), ...options.map(({ flag }) => flag)];
  return `    ${quote(path)}) words=${quote(all.join(' '))} ;;`;
};

const patterns = (all: readonly string[]): string => all.map(quote).join(' | ');
