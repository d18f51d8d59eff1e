import './uncaught';
import { resolve } from 'node:path';
import { printable } from '../domain/printable';
import type * as table from '../lib/environments';
import { runLocalCommand } from '../local/command';

// With `npm start | tee file`, Ctrl-C stops tee too: a broken pipe must not prevent a clean shutdown.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

// It replaces `pg` by a native driver, which is not installed. The command loads `pg` when it starts environments.
delete process.env.NODE_PG_FORCE_NATIVE;

void runLocalCommand(process.argv.slice(2), {
  // Functions may log control characters, which a terminal would execute.
  print: (text) => process.stdout.write(`${printable(text)}\n`),
  note: (text) => process.stderr.write(`${printable(text)}\n`),
  projectRoot: resolve(__dirname, '..'),
  variables: process.env,
  // Loaded for --environment only: it takes half a second.
  environmentNames: () =>
    (require('../lib/environments') as typeof table).environments.map(({ name }) => name),
  onSignal: (listener) => {
    // Ctrl-C, `kill`, and a closed terminal.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, listener);
  },
  onUncaught: (listener) => process.removeAllListeners('uncaughtException').on('uncaughtException', listener),
}).then((exitCode) => process.exit(exitCode));
