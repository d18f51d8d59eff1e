/** A string, or a name with its colon; a number; what opens, separates and closes members. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|-?\d[\d.eE+-]*|[{}[\],]/g;

interface Level {
  readonly names: Set<string>;
  /** Of the member that is being read: its name, or its index in a list. */
  key: string | number;
}

interface Found {
  readonly kind: 'level' | 'name' | 'string' | 'number';
  /** Of a number as written, of a string or name what it means. */
  readonly text: string;
  /** The outermost first. */
  readonly levels: readonly Level[];
}

/** Walks through a text that `JSON.parse` accepts. A level's `names` are those before the one that is found. */
function* walk(json: string): Generator<Found> {
  const levels: Level[] = [];
  for (const [token, colon = ''] of json.matchAll(tokens)) {
    const level = levels.at(-1);
    if (token === '{' || token === '[') {
      levels.push({ names: new Set(), key: token === '[' ? 0 : '' });
      yield { kind: 'level', text: token, levels };
    } else if (token === '}' || token === ']') {
      levels.pop();
    } else if (token === ',') {
      if (typeof level?.key === 'number') level.key += 1;
    } else if (token.startsWith('"')) {
      const text = JSON.parse(token.slice(0, token.length - colon.length)) as string;
      if (colon && level) level.key = text;
      yield { kind: colon ? 'name' : 'string', text, levels };
      if (colon) level?.names.add(text);
    } else {
      yield { kind: 'number', text: token, levels };
    }
  }
}

/** What is wrong, and what to do about it. */
const defects = {
  levels: ['more than 100 levels of objects and lists', 'Nest less'],
  surrogate: ['an unpaired surrogate', 'Write a whole character, or none'],
  repeated: ['duplicate names', 'Use each name once'],
  prototype: [
    'a member "__proto__", or "constructor" with "prototype" in it',
    'Choose another name, or a list of pairs for names that users choose',
  ],
  zero: ['U+0000', 'Remove it'],
  longName: ['a name of more than 50,000 bytes', 'Shorten it, or make it a value'],
  longNumber: ['a number of more than 1,000 digits', 'Write it as a string'],
  range: ["a number beyond a double's range", 'Write it as a string'],
  places: ['a number with an exponent that parsers refuse', 'Write it without, or as a string'],
} as const satisfies Readonly<Record<string, readonly [what: string, remedy: string]>>;

type Defect = keyof typeof defects;

/**
 * What parsers disagree on: duplicate names in an object (RFC 8259 section 4), a string or name with an unpaired surrogate
 * (https://www.rfc-editor.org/rfc/rfc7493#section-2.1), or too many levels (RFC 8259 section 9 lets parsers limit them).
 */
function findAmbiguity({ kind, text, levels }: Found, maxLevels: number): Defect | undefined {
  if (levels.length > maxLevels) return 'levels';
  if (kind !== 'name' && kind !== 'string') return undefined;
  if (!text.isWellFormed()) return 'surrogate';
  return kind === 'name' && levels.at(-1)?.names.has(text) ? 'repeated' : undefined;
}

/**
 * What a common parser refuses. Ruby's has 100 levels; Fastify's and hapi's refuse names that reach prototypes; PostgreSQL's `jsonb` and
 * PHP's refuse U+0000; Go's refuses what a double cannot hold. Jackson limits names, in bytes, and the digits of a number, an exponent's
 * included: https://javadoc.io/doc/com.fasterxml.jackson.core/jackson-core/latest/com/fasterxml/jackson/core/StreamReadConstraints.html
 */
function findObstacle(found: Found): Defect | undefined {
  const ambiguity = findAmbiguity(found, 100);
  if (ambiguity) return ambiguity;
  const { kind, text, levels } = found;
  if (kind === 'number') return findNumberObstacle(text);
  if (text.includes('\0')) return 'zero';
  if (kind !== 'name') return undefined;
  if (Buffer.byteLength(text) > 50_000) return 'longName';
  const isPrototype = text === '__proto__' || (text === 'prototype' && levels.at(-2)?.key === 'constructor');
  return isPrototype ? 'prototype' : undefined;
}

function findNumberObstacle(text: string): Defect | undefined {
  if (text.replace(/\D/g, '').length > 1_000) return 'longNumber';
  if (!Number.isFinite(Number(text))) return 'range';
  const [, fraction = '', exponent = '0'] = /^[^.eE]*(?:\.(\d*))?(?:[eE](.*))?$/.exec(text) ?? [];
  // Decimal places and exponents of PostgreSQL's `numeric`, for zeros and what a double rounds to zero:
  // https://www.postgresql.org/docs/current/datatype-numeric.html
  return fraction.length - Number(exponent) > 16_383 || Number(exponent) >= 2 ** 30 - 1
    ? 'places'
    : undefined;
}

/** Why common parsers refuse the text of an object: a sentence with place and remedy, in ASCII. Its names are cut, its values left out. */
export function whyRefused(json: string): string | undefined {
  for (const found of walk(json)) {
    const defect = findObstacle(found);
    if (!defect) continue;
    const [what, remedy] = defects[defect];
    return `${what} at ${placeOf(found)}: common parsers refuse it or disagree on it. ${remedy}.`;
  }
  return undefined;
}

/** What parsers accept and read differently, as sentences with their places. */
export function findDifferences(json: string): string[] {
  const found: string[] = [];
  const lowerCase = new WeakMap<Level, Set<string>>();
  for (const each of walk(json)) {
    const level = each.levels.at(-1);
    if (each.kind === 'number' && significant(each.text) !== significant(String(Number(each.text)))) {
      found.push(
        `Many parsers read the number at ${placeOf(each)} as ${Number(each.text)}: write it as a string.`,
      );
    }
    if (each.kind !== 'name' || !level) continue;
    const names = lowerCase.get(level) ?? new Set();
    const name = each.text.toLowerCase();
    if (names.has(name)) {
      found.push(`Some parsers take ${placeOf(each)} for a member whose name differs only in case.`);
    }
    lowerCase.set(level, names.add(name));
  }
  return found;
}

/** Digits without zeros at either end, and the power of ten of the last one. */
function significant(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d*))?(?:e(.*))?$/i.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const trimmed = digits.replace(/0+$/, '');
  return trimmed && `${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`;
}

/** Where something is, such as `data.items[3]["odd name"]`, at most 200 characters. */
function placeOf({ kind, levels }: Found): string {
  const place = levels
    .slice(0, kind === 'level' ? -1 : undefined)
    .map(({ key }) => (/^[a-z_]\w{0,39}$/i.test(String(key)) ? `.${key}` : `[${quote(key)}]`))
    .join('')
    .replace(/^\./, '');
  return place.length > 200 ? `${place.slice(0, 100)}...${place.slice(-97)}` : place;
}

function quote(key: string | number): string {
  if (typeof key === 'number') return String(key);
  const cut = key.length > 40 ? `${key.slice(0, 40)}...` : key;
  const codeOf = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(cut).replace(/[^ -~]/g, codeOf);
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

/** Like `parseObject`, but undefined also for a text that parsers disagree on. */
export function parseStrictObject(json: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseObject(json);
  if (!value) return undefined;
  for (const found of walk(json)) if (findAmbiguity(found, 101)) return undefined;
  return value;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
