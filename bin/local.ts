import './node-version';
import './uncaught';
import { resolve } from 'node:path';
import { printable } from '../domain/printable';
import type * as command from '../local/command';

// With `npm start | tee file`, Ctrl-C ends tee as well: a broken pipe must not stop the orderly end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

// Without control characters, which a terminal would obey: what functions log may have them.
const note = (text: string) => process.stderr.write(`${printable(text)}\n`);

const args = process.argv.slice(2);
// First of all: loading the rest takes as long as Node.js has taken.
if (!['--help', '-h'].some((option) => args.includes(option))) note('Starting…');
const { runLocalCommand } = require('../local/command') as typeof command;

void runLocalCommand(args, {
  print: (text) => process.stdout.write(`${printable(text)}\n`),
  note,
  projectRoot: resolve(__dirname, '..'),
  variables: process.env,
  onSignal: (listener) => {
    // Ctrl-C, the signal by which others end a process, and a terminal that was closed.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, listener);
  },
}).then((exitCode) => {
  process.exitCode = exitCode;
});
