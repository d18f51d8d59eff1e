import { inspect } from 'node:util';
import { InvalidEnvironment } from '../lib/environment/validation';

// Imported before everything else: the table of environments is validated while it loads. What is wrong in it is said
// without a stack, which would lead to its validation; any other error that nobody catches is a bug, and needs one.
process.on('uncaughtException', (error) => {
  process.stderr.write(
    `${error instanceof InvalidEnvironment ? `error: ${error.message}` : inspect(error)}\n`,
  );
  process.exit(1);
});
