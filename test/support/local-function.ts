import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalFunction, type LocalFunctionOptions, startFunction } from '../../local/lambda/function';
import { temporaryFolder } from './temporary-folder';

/** Creates functions for each test of a file, and stops them afterwards. */
export function localFunctions() {
  const folder = temporaryFolder();
  const functions: LocalFunction[] = [];
  afterEach(() => Promise.all(functions.splice(0).map((each) => each.stop())));

  /** @returns the folder of a module */
  function bundle(code: string): string {
    const directory = mkdtempSync(join(folder(), 'function-'));
    writeFileSync(join(directory, 'index.js'), code);
    return directory;
  }

  /** @param body of a handler with `event` and `context` */
  function start(body: string, options: Partial<LocalFunctionOptions> = {}): LocalFunction {
    const started = startFunction({
      name: 'under-test',
      bundleDirectory: bundle(`exports.handler = async (event, context) => { ${body} };`),
      handler: 'index.handler',
      environment: {},
      timeoutSeconds: 10,
      memoryMiB: 128,
      region: 'eu-central-1',
      onLog: () => {},
      ...options,
    });
    functions.push(started);
    return started;
  }

  return { bundle, start };
}
