// Loaded into each function's process. Reads $ENDURANCE_FOLDER/orders five times a second: `clock`, seconds by which Date is
// off; `sample`, a number, and when it changes, the process appends the bytes that it holds to a file of that folder.
const { appendFileSync, readFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const { ENDURANCE_FOLDER: folder, AWS_LAMBDA_FUNCTION_NAME: name } = process.env;

const readOrders = () => JSON.parse(readFileSync(`${folder}/orders`, 'utf8'));
let orders = readOrders();
setInterval(() => {
  const { sample } = orders;
  orders = readOrders();
  if (orders.sample !== sample) recordMemory();
}, 200).unref();

const RealDate = Date;
const now = () => RealDate.now() + orders.clock * 1_000;
globalThis.Date = new Proxy(RealDate, {
  construct: (_, args, target) => Reflect.construct(RealDate, args.length > 0 ? args : [now()], target),
  get: (_, name) => (name === 'now' ? now : Reflect.get(RealDate, name)),
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

function recordMemory() {
  // What the first finds with a finalizer, only the second can free.
  collectGarbage();
  collectGarbage();
  // JavaScript objects, and memory such as buffers.
  const { heapUsed, external } = process.memoryUsage();
  appendFileSync(`${folder}/memory-${name}-${process.pid}`, `${heapUsed + external}\n`);
}
