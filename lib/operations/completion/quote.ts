/** As one word of bash, zsh and fish alike: none of them takes a backslash within single quotes the same way. */
export const quote = (text: string): string =>
  `'${text.replaceAll("'", `'"'"'`).replaceAll('\\', `'"\\\\"'`)}'`;
