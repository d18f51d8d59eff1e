import './uncaught';
import { resolve } from 'node:path';
import { runLocalCommand } from '../lib/local/command';
import { endingSignals } from '../lib/operations/interruption';
import { createTerminal } from '../lib/operations/terminal';

// With `npm start | tee file`, Ctrl-C ends tee as well: a broken pipe must not stop the orderly end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

void runLocalCommand(process.argv.slice(2), {
  terminal: createTerminal(process.stdout, process.stderr),
  projectRoot: resolve(__dirname, '..'),
  onSignal: (listener) => {
    for (const signal of endingSignals) process.on(signal, listener);
  },
}).then((exitCode) => {
  process.exitCode = exitCode;
});
