// Loaded into the process of `npm start` before anything else: it and its functions tell of their memory when asked.
const { join } = require('node:path');
const { loadIntoFunctions } = require('../../support/load-into-functions.cjs');

const memory = join(__dirname, 'memory.cjs');
loadIntoFunctions(memory, { LOAD_CONTROL: process.env.LOAD_CONTROL });
require(memory);
