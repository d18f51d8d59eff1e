// For what is loaded into the process of `npm start` before anything else.
const childProcess = require('node:child_process');
const { syncBuiltinESMExports } = require('node:module');

/** Functions are forked with an environment and arguments of their own: from now on they load `script` first. */
exports.loadIntoFunctions = (script, variables) => {
  const { fork } = childProcess;
  childProcess.fork = (file, args, options) =>
    fork(file, args, {
      ...options,
      env: { ...options.env, ...variables },
      execArgv: [...options.execArgv, '--require', script],
    });
  syncBuiltinESMExports();
};
