import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder for each test of a file or `describe`, and removes it afterwards. @returns its path, within a test */
export function temporaryFolder(): () => string {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return () => folder;
}

export function withTemporaryFolder<Result>(use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
