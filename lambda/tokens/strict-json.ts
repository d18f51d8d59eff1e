/** A JSON object that names a member twice means different things to different parsers (RFC 8259 section 4). */
function hasDuplicateNames(json: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g)) {
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

/** Reads a JSON object; undefined for anything else: other JSON, no JSON, or a member that is named twice. */
export function parseStrictObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== 'object' || value === null || Array.isArray(value) || hasDuplicateNames(json)) {
      return undefined;
    }
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
