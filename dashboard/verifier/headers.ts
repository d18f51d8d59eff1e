/** Pasted headers: names in lower case, each with its distinct values. */
export type PastedHeaders = ReadonlyMap<string, readonly string[]>;

/**
 * Reads headers in the forms in which tools show them: `Name: value` lines, with or without what `curl -v` puts
 * before them (`>`), and objects as JSON or as Node.js prints them. Other lines, a request line among them, say
 * nothing.
 */
export function readHeaders(text: string): PastedHeaders {
  const headers = new Map<string, string[]>();
  for (const [name, value] of readObject(text) ?? readLines(text)) {
    const values = headers.get(name.toLowerCase()) ?? [];
    headers.set(name.toLowerCase(), values.includes(value) ? values : [...values, value]);
  }
  return headers;
}

type Pairs = readonly (readonly [name: string, value: string])[];

function readObject(text: string): Pairs | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).flatMap(([name, each]) =>
    [each].flat().map((one) => [name, String(one).trim()] as const),
  );
}

const line = /^\s*[<>*]?\s*["'`]?([\w-]+)["'`]?\s*:\s*(.*?)\s*$/;

function readLines(text: string): Pairs {
  // An object in a program's own notation: a comma stands before the next name, not inside of `v1,…`.
  const lines = text.trim().startsWith('{')
    ? text.replace(/^\s*\{|\}[\s;]*$/g, '').split(/,\s*(?=["'`]?[\w-]+["'`]?\s*:)/)
    : text.split(/\r?\n/);
  return lines.flatMap((each) => {
    const [, name, value = ''] = line.exec(each) ?? [];
    return name ? [[name, withoutQuotes(value)] as const] : [];
  });
}

/** A value as a program prints it: `'v1,…',` is `v1,…`. */
function withoutQuotes(value: string): string {
  return /^(["'`])(.*)\1,?$/.exec(value)?.[2] ?? value;
}
