// Loaded into the processes of functions: their clock is off by the seconds in $FAULTS_CONTROL/clock, if it is there.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const file = join(process.env.FAULTS_CONTROL, 'clock');
const RealDate = Date;
let offset = 0;

const read = () => {
  try {
    offset = Number(readFileSync(file, 'utf8')) * 1_000;
  } catch {
    offset = 0;
  }
};
read();
setInterval(read, 100).unref();

const now = () => RealDate.now() + offset;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length > 0 ? args : [now()], newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
