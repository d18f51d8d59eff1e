import './node-version';
import './uncaught';
import { resolve } from 'node:path';
import { endingSignals } from '../cli/interruption';
import { createTerminal } from '../cli/terminal';
import type * as command from '../local/command';

// With `npm start | tee file`, Ctrl-C ends tee as well: a broken pipe must not stop the orderly end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const args = process.argv.slice(2);
const terminal = createTerminal(process.stdout, process.stderr);
// First of all: loading the rest takes as long as Node.js has taken.
if (!['--help', '-h'].some((option) => args.includes(option))) terminal.note('Starting…');
const { runLocalCommand } = require('../local/command') as typeof command;

void runLocalCommand(args, {
  terminal,
  projectRoot: resolve(__dirname, '..'),
  onSignal: (listener) => {
    for (const signal of endingSignals) process.on(signal, listener);
  },
}).then((exitCode) => {
  process.exitCode = exitCode;
});
