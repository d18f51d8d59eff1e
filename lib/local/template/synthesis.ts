import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const projectRoot = resolve(__dirname, '../../..');

/** The app did not synthesize. The message holds what it said. */
export class SynthesisFailed extends Error {
  override readonly name = 'SynthesisFailed';
}

/**
 * Runs the CDK app, as `cdk synth` does, in a process of its own: it would keep this one from everything else for
 * seconds. No AWS account or setting of whoever starts it gets in.
 *
 * @param directory the folder for the assembly; what is in it is removed
 * @param signal ends the app at once; nothing is left then of its temporary files
 * @param script the app, in TypeScript
 * @throws SynthesisFailed with what the app said
 */
export async function synthesize(
  directory: string,
  signal: AbortSignal,
  script = 'bin/app.ts',
): Promise<void> {
  signal.throwIfAborted();
  rmSync(directory, { recursive: true, force: true });
  // An app that is killed cannot remove its temporary files: they lie where they are found.
  const temporary = `${directory}.tmp`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  const loader = pathToFileURL(require.resolve('tsx')).href;
  const app = spawn(process.execPath, ['--import', loader, script], {
    cwd: projectRoot,
    env: {
      PATH: '/usr/bin:/bin',
      HOME: homedir(),
      TMPDIR: temporary,
      CDK_OUTDIR: directory,
      // CloudFormation's own rules take as long as all the rest; `npm run synth` and the tests apply them.
      CDK_VALIDATION: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C in a terminal reaches a whole process group: this process alone decides when the app ends.
    detached: true,
  });
  const said: Buffer[] = [];
  app.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  app.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const abort = () => app.kill('SIGKILL');
  signal.addEventListener('abort', abort);
  try {
    const code = await new Promise<number | null>((ended, failed) => {
      app.once('error', failed);
      app.once('close', ended);
    });
    signal.throwIfAborted();
    if (code !== 0)
      throw new SynthesisFailed(
        `The stacks cannot be synthesized:\n${Buffer.concat(said).toString().trim()}`,
      );
  } finally {
    signal.removeEventListener('abort', abort);
    rmSync(temporary, { recursive: true, force: true });
  }
}
