/** Quotes text as one word for bash, zsh and fish. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;

/** The names of options, such as `port-offset`, that npm consumed because `--` was missing: it makes them variables. */
export const consumedByNpm = (
  names: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): readonly string[] => names.filter((name) => variables[`npm_config_${name.replaceAll('-', '_')}`]);
