/**
 * Makes Node.js load packages, once per process instead of once per test file. Needs one-realm.js. Jest's own process gets them
 * unchanged, since Node.js loads them there anyway.
 */
module.exports = {
  process: (source, file) => ({
    code: `if (!module._compile) module.exports = requireNatively(${JSON.stringify(file)});
else (function () {${source}
}).call(this);`,
  }),
};
