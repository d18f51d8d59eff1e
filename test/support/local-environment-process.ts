import { resolve } from 'node:path';
import { runLocalCommand } from '../../lib/local/command';
import { createTerminal } from '../../lib/operations/terminal';

/** The environments of a test run: `npm start`, which also ends when the process that forked it is gone. */
void runLocalCommand(process.argv.slice(2), {
  terminal: createTerminal(process.stdout, process.stderr),
  projectRoot: resolve(__dirname, '../..'),
  onSignal: (stop) => {
    process.on('SIGTERM', stop);
    process.on('SIGINT', () => undefined);
    process.on('disconnect', stop);
  },
}).then((exitCode) => {
  process.exit(exitCode);
});
