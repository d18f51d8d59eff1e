/** A number whose digits are written as they are: 64-bit integers do not fit a JavaScript number. */
export class JsonNumber {
  constructor(readonly digits: string) {}
}

/** JSON text of `value`; like `JSON.stringify`, but knows {@link JsonNumber} and base64 for buffers. */
export function toJson(value: unknown): string {
  if (value instanceof JsonNumber) return value.digits;
  if (Buffer.isBuffer(value)) return JSON.stringify(value.toString('base64'));
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const longInteger = /^-?\d{16,}$/;

/** Parses JSON, giving integers of 16 digits and more as strings, for they may be more than a number can hold. */
export function parseJson(text: string): unknown {
  return JSON.parse(
    text.replace(stringOrNumber, (token) => (longInteger.test(token) ? `"${token}"` : token)),
  );
}
