/*
 * Runs inside a function's process: loads the bundle, then answers one invocation at a time over the IPC channel. Plain
 * CommonJS, so that the process needs no transpiler and starts as fast as the bundle does.
 */
const { loadHandler, describe } = require('./handler.cjs');

process.on('disconnect', () => process.exit(0));
// Ctrl-C in a terminal reaches every process of its group; only the parent decides when functions end.
process.on('SIGINT', () => {});

try {
  const handle = loadHandler(process.env, require);
  process.on('message', (invocation) => handle(invocation).then((answer) => process.send(answer)));
  process.send({ type: 'ready' });
} catch (error) {
  process.send({ type: 'failed', error: describe(error, true) }, () => process.exit(1));
}
