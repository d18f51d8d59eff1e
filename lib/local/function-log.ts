import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

export interface FunctionLogs {
  /** Keeps a line that a function wrote. */
  write(logicalId: string, line: string): void;
  /** Resolves when every line is in its file. */
  close(): Promise<void>;
}

/**
 * One log file for each function: `AuthorizeRequest.log`. What a function reports as an error is passed on too.
 *
 * @param onError gets a function's name and what it says went wrong
 */
export function openFunctionLogs(
  directory: string,
  onError: (functionName: string, message: string) => void,
): FunctionLogs {
  const files = new Map<string, WriteStream>();

  function fileOf(name: string): WriteStream {
    const known = files.get(name);
    if (known) return known;
    mkdirSync(directory, { recursive: true });
    const file = createWriteStream(join(directory, `${name}.log`), { flags: 'a', mode: 0o600 });
    files.set(name, file);
    return file;
  }

  return {
    write(logicalId, line) {
      const name = withoutHash(logicalId);
      fileOf(name).write(`${line}\n`);
      const problem = problemIn(line);
      if (problem) onError(name, problem);
    },
    async close() {
      await Promise.all([...files.values()].map((file) => new Promise<void>((closed) => file.end(closed))));
    },
  };
}

/** CDK adds eight hexadecimal digits to a logical id. */
const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');

/** A short account of an error line: of the structured log, of the runtime, or of a process that ended. */
function problemIn(line: string): string | undefined {
  if (line.startsWith('Invoke Error ')) return messageIn(line.slice('Invoke Error '.length));
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
