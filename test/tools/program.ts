import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../support/eventually';
import { startHttpServer } from '../support/http-server';

/** Starts a program on a free port of this machine, and waits for it. @throws Error with what it printed if it does not listen */
export async function startProgram(commandLine: (port: number) => readonly string[], cwd: string) {
  const { port, url, stop } = await startHttpServer(() => undefined);
  await stop();
  const [command = '', ...args] = commandLine(port);
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: unknown[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk));
  child.on('error', (error) => printed.push(error));
  const program = {
    /** Ends with a slash. */
    url,
    async stop() {
      if (child.pid === undefined || child.exitCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
  try {
    await eventually(() => fetch(url));
    return program;
  } catch {
    await program.stop();
    throw new Error(`${command} does not listen on port ${port}: ${printed.join('')}`);
  }
}

/** A Python that has a package: the first on the PATH, or Debian's. @throws Error with what to install */
export function python(packageName: string): string {
  const found = ['python3', '/usr/bin/python3'].find(
    (each) => spawnSync(each, ['-c', `import ${packageName}`]).status === 0,
  );
  if (found) return found;
  throw new Error(`No Python has ${packageName}. Install the Debian package python3-${packageName}.`);
}
