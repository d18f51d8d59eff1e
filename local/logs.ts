import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** The log files of one environment. */
export type Logs = ReturnType<typeof openLogs>;

/** @param onError called with the function's name and the error that it logged */
export function openLogs(directory: string, onError: (functionName: string, message: string) => void) {
  const files = new Map<string, WriteStream>();

  /** Appends a line to `NAME.log`. */
  function write(name: string, line: string): void {
    let file = files.get(name);
    if (!file) {
      mkdirSync(directory, { recursive: true });
      file = createWriteStream(join(directory, `${name}.log`), { flags: 'a', mode: 0o600 });
      files.set(name, file);
    }
    file.write(`${line}\n`);
  }

  return {
    write,
    /** Appends a line to a function's log file, and reports an error in it. */
    writeFunction(logicalId: string, line: string): void {
      // The CDK adds eight hexadecimal digits to a logical id.
      const name = logicalId.replace(/[0-9A-F]{8}$/, '');
      write(name, line);
      const error = errorIn(line);
      if (error) onError(name, error);
    },
    /** Resolves when every line is written. */
    async close(): Promise<void> {
      await Promise.all([...files.values()].map((file) => new Promise<void>((closed) => file.end(closed))));
    },
  };
}

/** The error in a line from the structured log, the runtime or an exited process. */
function errorIn(line: string): string | undefined {
  if (/Task timed out|Runtime exited with error/.test(line)) return line;
  const json = /^Invoke Error (.*)/.exec(line)?.[1] ?? (/"level":"(ERROR|CRITICAL)"/.test(line) && line);
  if (!json) return undefined;
  try {
    const { message, errorMessage, reason, error } = JSON.parse(json);
    const cause = reason ?? error?.message;
    return `${errorMessage ?? message}${cause ? `: ${cause}` : ''}`;
  } catch {
    return json;
  }
}
