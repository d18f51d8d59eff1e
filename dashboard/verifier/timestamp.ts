/** Seconds by which the clocks of both sides may differ. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export const tolerance = 300;

/** What is wrong with the form of a timestamp, as a sentence; undefined when it is whole seconds since 1970. */
export function problemOfTimestamp(text: string): string | undefined {
  if (/^\d{1,11}$/.test(text)) return undefined;
  if (/^\d{12,14}$/.test(text))
    return `webhook-timestamp is “${text}”, which looks like milliseconds. It has to be seconds since 1970.`;
  return `webhook-timestamp is “${text}”. It has to be whole seconds since 1970, such as ${exampleSeconds}.`;
}

const exampleSeconds = Date.UTC(2026, 10, 20) / 1000;

/** A span in words: `4 minutes`. */
export function inWords(seconds: number): string {
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const;
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ['second', 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
