import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** The log files of one environment. */
export interface Logs {
  /** Appends a line to `NAME.log`. */
  write(name: string, line: string): void;
  /** Appends a function's line to a file named after it, and reports an error that the line states. */
  writeFunction(logicalId: string, line: string): void;
  /** Resolves when every line is in its file. */
  close(): Promise<void>;
}

/** @param onError gets the name of a function and the error that it logged */
export function openLogs(directory: string, onError: (functionName: string, message: string) => void): Logs {
  const files = new Map<string, WriteStream>();

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
    writeFunction(logicalId, line) {
      // The CDK adds eight hexadecimal digits to a logical id.
      const name = logicalId.replace(/[0-9A-F]{8}$/, '');
      write(name, line);
      const problem = problemIn(line);
      if (problem) onError(name, problem);
    },
    async close() {
      await Promise.all([...files.values()].map((file) => new Promise<void>((closed) => file.end(closed))));
    },
  };
}

const thrown = 'Invoke Error ';

/** The error in a line of the structured log, of the runtime, or of a process that ended. */
function problemIn(line: string): string | undefined {
  if (line.startsWith(thrown)) return messageIn(line.slice(thrown.length));
  if (/Task timed out|Runtime exited with error/.test(line)) return line;
  return /"level":"(ERROR|CRITICAL)"/.test(line) ? messageIn(line) : undefined;
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
