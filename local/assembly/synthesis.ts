import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { StartError } from '../shared/start-error';

/** The folder of `package.json`. */
export const projectRoot = resolve(__dirname, '../..');

/**
 * The options of the app in cdk.json, with this project's loader. Without them V8 would optimize code that runs once, and collect its
 * garbage in four threads: a third of the CPU time.
 */
function appOptions(): readonly string[] {
  const { app } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8')) as { readonly app: string };
  const [, ...options] = app.split(' ');
  return options.map((each) => (each === './bin/tsx.cjs' ? join(projectRoot, each) : each));
}

/**
 * Runs the CDK app, like `cdk synth`, in a separate process: it would block this one for seconds. It gets no AWS
 * account or settings from the environment.
 *
 * @param directory the folder for the assembly; emptied first
 * @param signal kills the app
 * @param root of the project. @default - this one
 * @throws StartError with the app's output
 */
export async function synthesize(directory: string, signal: AbortSignal, root = projectRoot): Promise<void> {
  signal.throwIfAborted();
  const temporary = `${directory}.tmp`;
  for (const each of [directory, temporary]) rmSync(each, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  const app = spawn(process.execPath, appOptions(), {
    cwd: root,
    env: {
      PATH: '/usr/bin:/bin',
      // An own one, because the user may have none.
      HOME: temporary,
      // tsx keeps there what it has compiled; the app writes nothing else outside of the assembly.
      TMPDIR: tmpdir(),
      CDK_OUTDIR: directory,
      // Validation by CloudFormation's rules doubles the time; `npm run synth` and the tests do it.
      CDK_VALIDATION: 'false',
      // Of every construct: the CDK would write them beside the templates.
      CDK_CONTEXT_JSON: JSON.stringify({ 'aws:cdk:disable-creation-stack-traces': true }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C in a terminal reaches the whole process group; only this process may stop the app.
    detached: true,
    signal,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [app.stdout, app.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  try {
    const [code, killed] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      app.once('error', (error) => signal.aborted || reject(error));
      app.once('close', (...ended) => resolve(ended));
    });
    signal.throwIfAborted();
    const memory = 'probably for lack of memory: free some, or raise the limit of the container';
    const reason = killed && `It was killed by ${killed}${killed === 'SIGKILL' ? `; ${memory}` : ''}.`;
    if (code !== 0)
      throw new StartError(['Synthesis failed:', withoutTrace(output), reason].filter(Boolean).join('\n'));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** A syntax error's line, or any other error's message without the stack trace. */
function withoutTrace(output: string): string {
  const lines = output.split('\n');
  const syntax = lines.filter((line) => /:\d+:\d+: ERROR: /.test(line));
  const message = lines.filter((line) => !/^\s+at |^Node\.js v/.test(line));
  return (syntax.length > 0 ? syntax : message).join('\n').trim();
}
