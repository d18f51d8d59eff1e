import { inspect } from 'node:util';
import { printable } from '../domain/printable';

// Imported before everything else: the table of environments is validated while it loads. What a deployer gave wrong is said
// without a stack, which would lead to its validation; any other error that nobody catches is a bug, and needs one.
process.on('uncaughtException', (error) => {
  // By name: its class is in a module that takes a second to load.
  const said = /^Invalid(Input|Environment)$/.test(error.name) ? `error: ${error.message}` : inspect(error);
  process.stderr.write(`${printable(said)}\n`);
  process.exit(1);
});
