/** A string or name of a JSON text, with the colon after a name. */
const strings = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/** Whether an object in a JSON text has duplicate names: parsers disagree on their meaning (RFC 8259 section 4). */
export function hasDuplicateNames(json: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(strings)) {
    if (token === '{') {
      open.push(new Set());
    } else if (token === '}') {
      open.pop();
    } else if (colon) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      const names = open.at(-1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}

/**
 * Whether every string and name of a JSON text is well-formed Unicode: I-JSON forbids escaped unpaired surrogates,
 * and some parsers reject them. https://www.rfc-editor.org/rfc/rfc7493#section-2.1
 */
export function isUnicode(json: string): boolean {
  const texts = json.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  return texts.every((text) => (JSON.parse(text) as string).isWellFormed());
}

/** Parses a JSON object; undefined for anything else. */
export function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Like `parseObject`, but undefined also for duplicate names in any object. */
export function parseStrictObject(json: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseObject(json);
  return value && !hasDuplicateNames(json) ? value : undefined;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
