import { resolve } from 'node:path';
import { createTerminal } from '../../cli/terminal';
import { environments } from '../../lib/environments';
import { runLocalCommand } from '../../local/command';
import { keepStateIn } from './kept-state';

/** The environments of a test run: `npm start`, which also ends when the process that forked it is gone. */
async function main(state: string, args: readonly string[]): Promise<void> {
  const names = environments.map(({ name }) => name);
  await keepStateIn(state, names);
  if (!process.connected) return;
  const exitCode = await runLocalCommand(['--state', state, ...args], {
    terminal: createTerminal(process.stdout, process.stderr),
    projectRoot: resolve(__dirname, '../..'),
    onSignal: (stop) => {
      process.on('SIGTERM', stop);
      process.on('SIGINT', () => undefined);
      process.on('disconnect', stop);
    },
  });
  process.exit(exitCode);
}

const [, , state = '', ...args] = process.argv;
void main(state, args);
