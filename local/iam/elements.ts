/** Whether a pattern with `*` and `?` covers the whole text. */
export function matchesPattern(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${source}$`, 's').test(text);
}

/** The texts of an element that may be one or a list. @throws Error for a policy variable, which is not known here */
export function texts(value: unknown, where: string): readonly string[] {
  return list(value).map((text) => {
    if (typeof text !== 'string' && typeof text !== 'boolean') throw unknown(where, JSON.stringify(text));
    if (String(text).includes('${')) throw unknown(where, `the policy variable in ${text}`);
    return String(text);
  });
}

export const unknown = (where: string, what: string): Error =>
  new Error(`${where}: ${what} is not known on this machine.`);

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

export function record(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${where} is no object: ${JSON.stringify(value)}.`);
  }
  return value as Record<string, unknown>;
}
