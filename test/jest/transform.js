module.exports = {
  process: (source, file) => ({
    code: file.endsWith('.sql')
      ? // As the bundler's text loader does.
        `module.exports = { __esModule: true, default: ${JSON.stringify(source)} };`
      : // Node.js loads packages once per process, instead of Jest once per test file: see one-realm.js. Jest's main process
        // gets them unchanged, since Node.js loads them there anyway.
        `if (!module._compile) module.exports = requireNatively(${JSON.stringify(file)});
else (function () {${source}
}).call(this);`,
  }),
};
