// Loaded into each function's process. Reads $ENDURANCE_ORDERS/orders ten times a second:
// `clock`: seconds by which Date is off; `memory`: a number, and when it changes, the process reports its memory.
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const folder = process.env.ENDURANCE_ORDERS;
const read = () => {
  try {
    return JSON.parse(readFileSync(`${folder}/orders`, 'utf8'));
  } catch {
    return { clock: 0, memory: 0 };
  }
};
let orders = read();
setInterval(() => {
  const { memory } = orders;
  orders = read();
  if (orders.memory !== memory) reportMemory();
}, 100).unref();

const RealDate = Date;
const now = () => RealDate.now() + orders.clock * 1_000;
globalThis.Date = new Proxy(RealDate, {
  construct: (_, args, target) => Reflect.construct(RealDate, args.length > 0 ? args : [now()], target),
  get: (_, name) => (name === 'now' ? now : Reflect.get(RealDate, name)),
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

function reportMemory() {
  // What the first finds with a finalizer, only the second can free.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  const sample = {
    process: `${process.env.AWS_LAMBDA_FUNCTION_NAME} (${process.pid})`,
    bytes: heapUsed + external,
  };
  const file = `${folder}/${orders.memory}-${process.pid}`;
  writeFileSync(`${folder}/part-${process.pid}`, JSON.stringify(sample));
  renameSync(`${folder}/part-${process.pid}`, file);
}
