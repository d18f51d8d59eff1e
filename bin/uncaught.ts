import { inspect } from 'node:util';
import { printable } from '../domain/printable';

// Imported first: the table of environments is validated while it loads. A deployer's invalid input is printed without a
// stack trace, which would only show the validation; any other uncaught error is a bug and needs one.
process.on('uncaughtException', (error) => {
  // By name: importing the class would take a second.
  const text = /^Invalid(Input|Environment)$/.test(error.name) ? `error: ${error.message}` : inspect(error);
  process.stderr.write(`${printable(text)}\n`);
  process.exit(1);
});
