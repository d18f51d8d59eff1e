import type { CompletedCommand } from './command-tree';

/** What comes after an option, for the `case` of a shell: the words before it, and what can follow them. */
export interface ValueCase {
  /** `seed --environment` */
  readonly after: readonly string[];
  /** `file`, nothing that is known, or these words. */
  readonly values: 'file' | 'any' | readonly string[];
}

/** The options that take a value, those with the same ones together. */
export function valueCases(tree: readonly CompletedCommand[]): readonly ValueCase[] {
  const cases = new Map<string, { after: string[]; values: ValueCase['values'] }>();
  for (const { path, options } of tree) {
    for (const { flag, values } of options) {
      if (values === 'none') continue;
      const key = JSON.stringify(values);
      const known = cases.get(key) ?? { after: [], values };
      known.after.push(`${path} ${flag}`);
      cases.set(key, known);
    }
  }
  return [...cases.values()];
}

/** The commands' words, without the program itself. */
export const paths = (tree: readonly CompletedCommand[]): readonly string[] =>
  tree.map(({ path }) => path).filter(Boolean);
