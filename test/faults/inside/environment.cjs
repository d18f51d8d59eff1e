// Loaded into the process of `npm start` before anything else. What it does is decided by files in $FAULTS_CONTROL.
const { subscribe } = require('node:diagnostics_channel');
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { loadIntoFunctions } = require('../../support/load-into-functions.cjs');

const control = process.env.FAULTS_CONTROL;
loadIntoFunctions(join(__dirname, 'clock.cjs'), { FAULTS_CONTROL: control });

/** While `queue-resets` holds the port of the queues, every connection to it is reset, old ones and new ones. */
const resetPort = () => {
  const file = join(control, 'queue-resets');
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
};
const connections = new Set();
const reset = (socket) => socket.localPort === resetPort() && socket.resetAndDestroy();
subscribe('net.server.socket', ({ socket }) => {
  connections.add(socket);
  socket.once('close', () => connections.delete(socket));
  reset(socket);
});
setInterval(() => connections.forEach(reset), 100).unref();
