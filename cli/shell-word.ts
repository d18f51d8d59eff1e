/** As one word of bash, zsh and fish alike: none of them takes a backslash within single quotes the same way. */
export const quote = (text: string): string =>
  `'${text.replaceAll("'", `'"'"'`).replaceAll('\\', `'"\\\\"'`)}'`;

/** As one word of bash, zsh and fish, left as it is where that is safe. */
export const shellWord = (text: string): string => (/^[\w./:@%+=-]+$/.test(text) ? text : quote(text));
