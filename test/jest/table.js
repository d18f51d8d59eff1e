/** `lib/environments.ts` in tests: their own table. The operator's may have any rows. */
module.exports = { process: () => ({ code: "module.exports = require('../test/support/table');" }) };
