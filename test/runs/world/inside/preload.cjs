// Loaded into `npm start` before anything else: $RUN_SCRIPT runs in it, and in each function that it forks.
const childProcess = require('node:child_process');
const { syncBuiltinESMExports } = require('node:module');

const { RUN_CONTROL, RUN_SCRIPT } = process.env;
const { fork } = childProcess;
childProcess.fork = (file, args, options) =>
  fork(file, args, {
    ...options,
    env: { ...options.env, RUN_CONTROL },
    execArgv: [...options.execArgv, '--require', RUN_SCRIPT],
  });
syncBuiltinESMExports();
require(RUN_SCRIPT);
