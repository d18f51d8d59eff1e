import { inspect } from 'node:util';
import { isInvalidInput } from '../domain/invalid-input';
import { printable } from '../domain/printable';

// Imported first: the table of environments is validated while it loads. Any other uncaught error is a bug and needs its trace.
process.on('uncaughtException', (error) => {
  const text = isInvalidInput(error) ? `error: ${error.message}` : inspect(error);
  process.stderr.write(`${printable(text)}\n`);
  process.exit(1);
});
