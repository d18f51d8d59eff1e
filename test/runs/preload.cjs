// Loaded into `npm start` and, by it, into each function that it forks. Files in $RUN_CONTROL are its orders.
const childProcess = require('node:child_process');
const { subscribe } = require('node:diagnostics_channel');
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const control = process.env.RUN_CONTROL;
const functionName = process.env.AWS_LAMBDA_FUNCTION_NAME;

/** The content of a control file; undefined without the file. */
const order = (name) => {
  try {
    return readFileSync(join(control, name), 'utf8');
  } catch {
    return undefined;
  }
};
const poll = (look) => setInterval(look, 100).unref();

if (functionName) stepClock();
else {
  preloadFunctions();
  resetQueues();
}
reportMemory();

function preloadFunctions() {
  const { fork } = childProcess;
  childProcess.fork = (file, args, options) =>
    fork(file, args, {
      ...options,
      env: { ...options.env, RUN_CONTROL: control },
      execArgv: [...options.execArgv, '--require', __filename],
    });
  syncBuiltinESMExports();
}

/** `clock`: seconds by which the clock of every function is off. */
function stepClock() {
  const RealDate = Date;
  let offset = 0;
  const read = () => {
    offset = Number(order('clock') ?? 0) * 1_000;
  };
  read();
  poll(read);
  const now = () => RealDate.now() + offset;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length > 0 ? args : [now()], newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
}

/** `queue-resets`: the port of the queues; every connection to it is reset, old and new. */
function resetQueues() {
  const connections = new Set();
  const reset = (socket) => socket.localPort === Number(order('queue-resets')) && socket.resetAndDestroy();
  subscribe('net.server.socket', ({ socket }) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    reset(socket);
  });
  poll(() => connections.forEach(reset));
}

/** `memory`: a number. When it changes, collects garbage and writes what is left to NUMBER-PID.json. */
function reportMemory() {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  let seen;
  poll(() => {
    const asked = order('memory');
    if (asked === undefined || asked === seen) return;
    seen = asked;
    // What the first finds with a finalizer, only the second can free.
    collectGarbage();
    collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    const file = join(control, `${asked}-${process.pid}.json`);
    const sample = { name: functionName ?? 'npm start', pid: process.pid, held: heapUsed + external, rss };
    writeFileSync(`${file}.part`, JSON.stringify(sample));
    renameSync(`${file}.part`, file);
  });
}
