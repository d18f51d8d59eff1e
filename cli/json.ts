/** @returns undefined for a text that is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of a JSON object; none for any other text. */
export const readFields = (text: string): Readonly<Record<string, unknown>> => ({
  ...Object(parseJson(text)),
});
