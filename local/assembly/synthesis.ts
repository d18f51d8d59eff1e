import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { StartError } from '../state';

/** The folder of `package.json`. */
export const projectRoot = resolve(__dirname, '../..');

/**
 * Runs the CDK app, as `cdk synth` does, in a separate process: it would block this one for seconds. It gets no AWS
 * account or setting from the environment.
 *
 * @param directory the folder for the assembly; emptied first
 * @param signal ends the app at once, and removes its temporary files
 * @param app `script`: in TypeScript. `root`: the folder that it runs in. @default - this project's own
 * @throws StartError with the app's output
 */
export async function synthesize(
  directory: string,
  signal: AbortSignal,
  { script = 'bin/app.ts', root = projectRoot }: { readonly script?: string; readonly root?: string } = {},
): Promise<void> {
  signal.throwIfAborted();
  rmSync(directory, { recursive: true, force: true });
  // An app that is killed cannot remove its temporary files.
  const temporary = `${directory}.tmp`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  const app = spawn(process.execPath, ['--require', require.resolve('tsx/cjs'), script], {
    cwd: root,
    env: {
      PATH: '/usr/bin:/bin',
      HOME: homedir(),
      TMPDIR: temporary,
      CDK_OUTDIR: directory,
      // CloudFormation's own rules take as long as all the rest; `npm run synth` and the tests apply them.
      CDK_VALIDATION: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C in a terminal reaches the whole process group; only this process may end the app.
    detached: true,
  });
  const output: Buffer[] = [];
  app.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  app.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const abort = () => app.kill('SIGKILL');
  signal.addEventListener('abort', abort);
  try {
    const code = await new Promise<number | null>((ended, failed) => {
      app.once('error', failed);
      app.once('close', ended);
    });
    signal.throwIfAborted();
    if (code !== 0)
      throw new StartError(
        `The stacks cannot be synthesized:\n${withoutTrace(Buffer.concat(output).toString())}`,
      );
  } finally {
    signal.removeEventListener('abort', abort);
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Of a syntax error the line alone; of any other the message, without the lines that say where it was thrown. */
function withoutTrace(output: string): string {
  const lines = output.split('\n');
  const syntax = lines.filter((line) => /:\d+:\d+: ERROR: /.test(line));
  return (syntax.length > 0 ? syntax : lines.filter((line) => !/^\s+at |^Node\.js v/.test(line)))
    .join('\n')
    .trim();
}
