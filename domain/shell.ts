/** Quotes text as one word for bash, zsh and fish. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;

/** Options that npm took as its own because `--` was missing. Some machines set npm's own `--yes` for all runs. */
export const takenByNpm = (
  options: readonly { readonly long?: string | undefined }[],
  variables: Readonly<Record<string, string | undefined>>,
): string =>
  options
    .flatMap(({ long = '' }) =>
      long !== '--yes' && variables[`npm_config_${long.slice(2).replaceAll('-', '_')}`] ? [long] : [],
    )
    .join(' and ');
