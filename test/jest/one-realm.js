const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

/*
 * The environment of every test file: Node.js's own realm, instead of a new one for each. The files of a worker thus share
 * packages (transform.js) and access globals without a proxy. Each still has its own project modules, environment
 * variables and console. Jest compiles modules only in a context of `vm.createContext` (jest-runtime's `compile`), which Node.js's
 * own is not: hence the patch.
 */
const nodesRealm = {};
const { compileFunction } = vm;
vm.compileFunction = (code, parameters, { parsingContext, ...options }) =>
  compileFunction(code, parameters, { ...options, ...(parsingContext !== nodesRealm && { parsingContext }) });

globalThis.requireNatively = require;

const endWorker = () => process.exit(1);

/** jest-worker's `CHILD_MESSAGE_END`, from its types. */
const endMessage = 2;
/** The pipes to the main process, and shutdowns of closed sockets, which Node.js lists until they are collected. */
const expected = ['PipeWrap', 'SimpleShutdownWrap'];

/** Ends the worker, within 200 ms even if sockets are still closing. */
function endWhenClosed(tries = 10) {
  const leaks = process.getActiveResourcesInfo().filter((name) => !expected.includes(name));
  if (leaks.length > 0 && tries > 0) return setTimeout(endWhenClosed, 20, tries - 1).unref();
  if (leaks.length > 0) process.stderr.write(`Tests left open: ${leaks.join(', ')}\n`);
  process.exit(0);
}

// Jest kills a worker that has not ended half a second after its last file, and cannot tell a leak from a busy machine: here it
// ends itself, and names what tests left open.
if (process.send) process.on('message', ([type]) => type === endMessage && endWhenClosed());

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
    // Otherwise a worker would finish its file after its run was killed.
    process.on('disconnect', endWorker);
    this.restore = () => {
      process.off('disconnect', endWorker);
      globalThis.console = console;
      // Jest's state for this file, which would otherwise receive events of the next file's tests.
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
