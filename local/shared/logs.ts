import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** The log files of one environment. */
export type Logs = ReturnType<typeof openLogs>;

interface LogListeners {
  /** Called with the function's name and the error that it logged. */
  onError(functionName: string, message: string): void;
  /** Called if a file cannot be written. */
  onFailure(error: Error): void;
}

/** @param directory an existing folder: a deleted one is not created again */
export function openLogs(directory: string, { onError, onFailure }: LogListeners) {
  const files = new Map<string, WriteStream>();

  /** Appends a line to `NAME.log`. */
  function write(name: string, line: string): void {
    let file = files.get(name);
    if (!file) {
      file = createWriteStream(join(directory, `${name}.log`), { flags: 'a', mode: 0o600 });
      file.on('error', onFailure);
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
    /** Resolves when every line is written, or cannot be. */
    async close(): Promise<void> {
      await Promise.all([...files.values()].map((file) => new Promise<void>((closed) => file.end(closed))));
    },
  };
}

/** The error in a line from the structured log, the runtime or an exited process. */
function errorIn(line: string): string | undefined {
  if (/Task timed out|Runtime exited with error/.test(line)) return line;
  const json = /^Invoke Error (.*)/.exec(line)?.[1] ?? (/"level":"(ERROR|CRITICAL)"/.test(line) && line);
  return json ? messageIn(json) : undefined;
}

function messageIn(json: string): string {
  try {
    const { message, errorMessage, reason, error } = JSON.parse(json);
    const cause = reason ?? error?.message;
    return `${errorMessage ?? message}${cause ? `: ${cause}` : ''}`;
  } catch {
    return json;
  }
}
