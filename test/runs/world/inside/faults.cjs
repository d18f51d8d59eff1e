// Faults that only a process can make in itself, while a file in $RUN_CONTROL asks for them.
const { subscribe } = require('node:diagnostics_channel');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

/** The number in a control file; undefined without the file. */
const asked = (name) => {
  try {
    return Number(readFileSync(join(process.env.RUN_CONTROL, name), 'utf8'));
  } catch {
    return undefined;
  }
};
const every100ms = (look) => setInterval(look, 100).unref();

/** In a function: the clock is off by the seconds in `clock`. */
function stepClock() {
  const RealDate = Date;
  let offset = 0;
  const read = () => {
    offset = (asked('clock') ?? 0) * 1_000;
  };
  read();
  every100ms(read);
  const now = () => RealDate.now() + offset;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length > 0 ? args : [now()], newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
}

/** In `npm start`: while `queue-resets` holds the port of the queues, every connection to it is reset, old and new. */
function resetQueues() {
  const connections = new Set();
  const reset = (socket) => socket.localPort === asked('queue-resets') && socket.resetAndDestroy();
  subscribe('net.server.socket', ({ socket }) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    reset(socket);
  });
  every100ms(() => connections.forEach(reset));
}

if (process.env.AWS_LAMBDA_FUNCTION_NAME) stepClock();
else resetQueues();
