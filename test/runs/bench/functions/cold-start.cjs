/*
 * A fresh process that does what Lambda does at a cold start: loads a bundle, then handles the first event. Prints the
 * milliseconds of both. Arguments: the bundle's folder, the event's file. Plain CommonJS, so that nothing else is loaded.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const [directory, eventFile] = process.argv.slice(2);
const event = JSON.parse(readFileSync(eventFile, 'utf8'));

const begin = performance.now();
const { handler } = require(join(directory, 'index.js'));
const loaded = performance.now();
handler(event).then(
  (answer) => {
    const invoked = performance.now();
    process.stdout.write(
      `\n${JSON.stringify({ load: loaded - begin, invoke: invoked - loaded, answer: answer ?? null })}\n`,
      () => process.exit(),
    );
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
