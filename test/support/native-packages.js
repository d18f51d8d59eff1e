/**
 * Has test files get packages from Node.js itself, which loads each once for all files of a process, and not once for each
 * file. Needs one-realm.js. Jest's own process gets them as they are: it has them loaded by Node.js anyway.
 */
module.exports = {
  process: (source, file) => ({
    code: `if (!module._compile) module.exports = requireNatively(${JSON.stringify(file)});
else (function () {${source}
}).call(this);`,
  }),
};
