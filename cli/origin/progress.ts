/** Milliseconds without a line after which a person wonders. */
const silence = 60_000;

/** What a command tells of a long wait. */
export interface Progress {
  /** Writes a line. */
  report(line: string): void;
  /** Writes a line about what is still so: when it is another one than before, and once a minute. */
  still(line: string): void;
  /** Whether nothing was written for a minute. */
  isSilent(): boolean;
}

export function createProgress(write: (line: string) => void): Progress {
  const began = Date.now();
  let last = began;
  let said = '';
  const report = (line: string) => {
    last = Date.now();
    write(line);
  };
  const isSilent = () => Date.now() - last >= silence;
  return {
    report,
    isSilent,
    still(line) {
      if (line === said && !isSilent()) return;
      said = line;
      report(`  ${clock(Date.now() - began)}  ${line}`);
    },
  };
}

/** Milliseconds as `12:05`, hours as minutes. */
export function clock(elapsed: number): string {
  const seconds = Math.max(0, Math.round(elapsed / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
