/*
 * A fresh process that does what Lambda does at a cold start: loads a bundle, then handles the first event. Prints the
 * milliseconds of both, and of the main thread's processor (null before Node.js 24). Arguments: the bundle's folder, the
 * event's file. Plain CommonJS, so that nothing else is loaded.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const [directory, eventFile] = process.argv.slice(2);
const event = JSON.parse(readFileSync(eventFile, 'utf8'));

const processor = () => {
  const { user, system } = process.threadCpuUsage?.() ?? { user: Number.NaN, system: 0 };
  return (user + system) / 1_000;
};
const [begin, began] = [performance.now(), processor()];
const { handler } = require(join(directory, 'index.js'));
const loaded = performance.now();
handler(event).then(
  (answer) => {
    const invoked = performance.now();
    const took = { load: loaded - begin, invoke: invoked - loaded, processor: processor() - began };
    process.stdout.write(`\n${JSON.stringify({ ...took, answer: answer ?? null })}\n`, () => process.exit());
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
