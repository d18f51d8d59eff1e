/** Quotes text as one word for bash, zsh and fish. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;

/** An option of Commander. */
interface Option {
  /** Such as `--port-offset`. */
  readonly long?: string | undefined;
  /** Whether it has a value. */
  readonly required: boolean;
  /** Throws for an invalid value. */
  parseArg?<T>(value: string, previous: T): T;
}

/**
 * What was typed, if npm consumed options because `--` was missing: it makes them variables. Of `--name value`, the variable is
 * `true`, and the value stays among the words.
 *
 * @param words that are neither a command nor an option that npm left
 * @returns undefined if npm consumed none
 */
export function typedBeforeNpm(
  words: readonly string[],
  options: readonly Option[],
  variables: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const variableOf = ({ long = '' }: Option) => variables[`npm_config_${long.slice(2).replaceAll('-', '_')}`];
  const accepts = ({ required, parseArg }: Option, word: string) => {
    try {
      parseArg?.(word, undefined);
      return required;
    } catch {
      return false;
    }
  };
  const values = (option: Option) => words.filter((word) => accepts(option, word));
  // Any word can be a file: the options that accept fewer choose first.
  const consumed = options.filter(variableOf).sort((one, other) => values(one).length - values(other).length);
  if (consumed.length === 0) return undefined;
  const left = [...words];
  const typed = consumed.flatMap((option) => {
    const variable = String(variableOf(option));
    const value = variable === 'true' ? values(option).find((word) => left.includes(word)) : variable;
    if (!option.required || value === undefined) return [String(option.long)];
    if (variable === 'true') left.splice(left.indexOf(value), 1);
    return [String(option.long), shellWord(value)];
  });
  return [...typed, ...left.map(shellWord)].join(' ');
}
