/*
 * Runs inside a function's process: loads the bundle, then answers one invocation at a time over the IPC channel. Plain
 * CommonJS, so that the process needs no transpiler and starts as fast as the bundle does.
 */
const { describe, loadHandler } = require('./handler.cjs');

process.on('disconnect', () => process.exit(0));
// Ctrl-C in a terminal reaches every process of its group; only the parent decides when functions end.
process.on('SIGINT', () => {});

try {
  const handle = loadHandler(process.env, require);
  process.on('message', (invocation) => handle(invocation).then((result) => process.send(result)));
  process.send({ ok: true });
} catch (error) {
  process.send(describe(error, true), () => process.exit(1));
}
