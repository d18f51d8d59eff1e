// Loaded into each function's process. Reads $ENDURANCE_FOLDER/samples five times a second, a number; when it changes, the process
// appends the bytes that it holds to a file of that folder.
const { appendFileSync, readFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const { ENDURANCE_FOLDER: folder, AWS_LAMBDA_FUNCTION_NAME: name } = process.env;

const readSamples = () => readFileSync(`${folder}/samples`, 'utf8');
let samples = readSamples();
setInterval(() => {
  const before = samples;
  samples = readSamples();
  if (samples !== before) recordMemory();
}, 200).unref();

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
