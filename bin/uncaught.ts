import { inspect } from 'node:util';
import { printable } from '../cli/terminal';
import { InvalidInput } from '../lib/environment/invalid-input';

// Imported before everything else: the table of environments is validated while it loads. What a deployer gave wrong is said
// without a stack, which would lead to its validation; any other error that nobody catches is a bug, and needs one.
process.on('uncaughtException', (error) => {
  const said = error instanceof InvalidInput ? `error: ${error.message}` : inspect(error);
  process.stderr.write(`${printable(said)}\n`);
  process.exit(1);
});
