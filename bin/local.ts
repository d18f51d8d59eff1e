import './uncaught';
import { resolve } from 'node:path';
import { printable } from '../domain/printable';
import type * as table from '../lib/environments';
import type * as command from '../local/command';

// With `npm start | tee file`, Ctrl-C stops tee too: a broken pipe must not prevent a clean shutdown.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

// Functions may log control characters, which a terminal would execute.
const note = (text: string) => process.stderr.write(`${printable(text)}\n`);

// It replaces `pg` by a native driver, which is not installed.
delete process.env.NODE_PG_FORCE_NATIVE;

const args = process.argv.slice(2);
// Printed first: loading the rest takes as long as Node.js took to start.
if (!['--help', '-h'].some((option) => args.includes(option))) note('Starting…');
const { runLocalCommand } = require('../local/command') as typeof command;

void runLocalCommand(args, {
  print: (text) => process.stdout.write(`${printable(text)}\n`),
  note,
  projectRoot: resolve(__dirname, '..'),
  variables: process.env,
  // Loaded for --environment only: it takes half a second.
  environmentNames: () =>
    (require('../lib/environments') as typeof table).environments.map(({ name }) => name),
  onSignal: (listener) => {
    // Ctrl-C, `kill`, and a closed terminal.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, listener);
  },
  // Instead of the listener of `uncaught`, which exits at once.
  onUncaught: (listener) => process.removeAllListeners('uncaughtException').on('uncaughtException', listener),
  exit: (exitCode) => process.exit(exitCode),
}).then((exitCode) => process.exit(exitCode));
