import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** The log files of one environment. */
export interface Logs {
  /** Keeps a line in `NAME.log`. */
  write(name: string, line: string): void;
  /** Keeps a line that a function wrote, in a file named after the function, and passes on what it says went wrong. */
  writeFunction(logicalId: string, line: string): void;
  /** Resolves when every line is in its file. */
  close(): Promise<void>;
}

/** @param onError gets a function's name and what it says went wrong */
export function openLogs(directory: string, onError: (functionName: string, message: string) => void): Logs {
  const files = new Map<string, WriteStream>();

  function fileOf(name: string): WriteStream {
    const known = files.get(name);
    if (known) return known;
    mkdirSync(directory, { recursive: true });
    const file = createWriteStream(join(directory, `${name}.log`), { flags: 'a', mode: 0o600 });
    files.set(name, file);
    return file;
  }

  const write = (name: string, line: string) => void fileOf(name).write(`${line}\n`);
  return {
    write,
    writeFunction(logicalId, line) {
      const name = withoutHash(logicalId);
      write(name, line);
      const problem = problemIn(line);
      if (problem) onError(name, problem);
    },
    async close() {
      await Promise.all([...files.values()].map((file) => new Promise<void>((closed) => file.end(closed))));
      files.clear();
    },
  };
}

/** CDK adds eight hexadecimal digits to a logical id. */
const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');

const thrown = 'Invoke Error ';

/** A short account of an error line: of the structured log, of the runtime, or of a process that ended. */
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
