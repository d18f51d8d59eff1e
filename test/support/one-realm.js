const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

/*
 * The environment of every test file: Node.js's own realm, instead of a new one for each. So the files of a worker share
 * packages (native-packages.js), and no proxy is between them and each global name. Each still has its own modules of the
 * project, environment variables and console.
 */
const nodesRealm = {};
const { compileFunction } = vm;
vm.compileFunction = (code, parameters, { parsingContext, ...options }) =>
  compileFunction(code, parameters, { ...options, ...(parsingContext !== nodesRealm && { parsingContext }) });

globalThis.requireNatively = require;

const endWorker = () => process.exit(1);

module.exports = class OneRealm extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global = globalThis;
    const FakeTimers = this.fakeTimersModern.constructor;
    this.fakeTimersModern = new FakeTimers({ config: config.projectConfig, global: globalThis });
    const { console } = globalThis;
    const symbols = new Set(Object.getOwnPropertySymbols(globalThis));
    const { env, exit } = process;
    const variables = { ...env };
    // A worker whose run was killed would go on to the end of its file.
    process.on('disconnect', endWorker);
    this.restore = () => {
      process.off('disconnect', endWorker);
      globalThis.console = console;
      // Under these Jest keeps what it knows of this file, and would go on telling it of the next one's tests.
      for (const symbol of Object.getOwnPropertySymbols(globalThis))
        if (!symbols.has(symbol)) Reflect.deleteProperty(globalThis, symbol);
      process.exit = exit;
      for (const name of Object.keys(env)) if (!(name in variables)) delete env[name];
      Object.assign(env, variables);
    };
  }

  getVmContext() {
    return nodesRealm;
  }

  async teardown() {
    await super.teardown();
    this.restore();
  }
};
