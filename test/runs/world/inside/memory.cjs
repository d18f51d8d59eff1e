/*
 * Whenever $RUN_CONTROL/look holds another number, this process collects its garbage and writes what is left into
 * $RUN_CONTROL/NUMBER-PID.json.
 */
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

const control = process.env.RUN_CONTROL;
const name = process.env.AWS_LAMBDA_FUNCTION_NAME ?? 'npm start';
let seen = '0';

setInterval(() => {
  let asked;
  try {
    asked = readFileSync(join(control, 'look'), 'utf8');
  } catch {
    return;
  }
  if (asked === seen) return;
  seen = asked;
  // Twice: what the first finds with a finalizer, only the second can free.
  collectGarbage();
  collectGarbage();
  // What buffers hold is external: `external` has `arrayBuffers` in it.
  const { heapUsed, external, rss } = process.memoryUsage();
  const file = join(control, `${asked}-${process.pid}.json`);
  writeFileSync(
    `${file}.part`,
    JSON.stringify({ name, pid: process.pid, held: heapUsed + external, resident: rss }),
  );
  renameSync(`${file}.part`, file);
}, 100).unref();
