import type { Log } from '../../lambda/shared/log';

/** A log in memory: the message under `message`, beside the line's attributes. */
export function recordLog() {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const write: Log['info'] = (message, ...extra) => {
    lines.push(Object.assign({ message }, ...extra));
  };
  return { lines, info: write, warn: write, error: write, clear: () => lines.splice(0) };
}
