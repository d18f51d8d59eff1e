/** A string or name of a JSON text, with the colon after a name; what opens and closes an object or a list. */
const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/** Levels of objects and lists: 100 within the outermost. Some parsers fail at a thousand. */
const maxDepth = 101;

interface Ambiguity {
  readonly kind: 'duplicate names' | 'an unpaired surrogate' | 'more than 100 levels of objects and lists';
  /** The name or string, if it is about one. */
  readonly text?: string;
}

/**
 * What parsers of a JSON text disagree on: duplicate names in an object (RFC 8259 section 4), a string or name with an
 * unpaired surrogate, which some reject (https://www.rfc-editor.org/rfc/rfc7493#section-2.1), or too many levels (RFC 8259
 * section 9 lets parsers limit them).
 */
export function findAmbiguity(json: string): Ambiguity | undefined {
  const open: Set<string>[] = [];
  for (const [token, colon = ''] of json.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      if (open.push(new Set()) > maxDepth) return { kind: 'more than 100 levels of objects and lists' };
    } else if (token === '}' || token === ']') {
      open.pop();
    } else {
      const text = JSON.parse(token.slice(0, token.length - colon.length)) as string;
      if (!text.isWellFormed()) return { kind: 'an unpaired surrogate', text };
      const names = open.at(-1);
      if (colon && names?.has(text)) return { kind: 'duplicate names', text };
      if (colon) names?.add(text);
    }
  }
  return undefined;
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

/** Like `parseObject`, but undefined also for an ambiguous text. */
export function parseStrictObject(json: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseObject(json);
  return value && !findAmbiguity(json) ? value : undefined;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
