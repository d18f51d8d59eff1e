const { setTimeout: sleep } = require('node:timers/promises');
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
// Jest kills a worker that has not ended half a second after its last file.
if (process.send) process.on('message', ([type]) => type === endMessage && process.exit(0));

// Node.js opens them when they are first used.
void [process.stdin, process.stdout, process.stderr];

/** What keeps the process alive, but not shutdowns of closed sockets, listed until they are collected; and its own listeners. */
function listOpen() {
  const signals = process.eventNames().filter((name) => /^SIG/.test(String(name)));
  const listeners = signals.flatMap((name) => process.listeners(name).map(() => `listener of ${name}`));
  return [...process.getActiveResourcesInfo().filter((name) => name !== 'SimpleShutdownWrap'), ...listeners];
}
/** What was not open before, and does not close within 20 s: more than any takes beside other load. No timer has a reason to run on. */
async function leftOpen(before) {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const earlier = [...before];
    // Of what has one name, as many are new as there are more.
    const left = listOpen().filter(
      (each) => !earlier.includes(each) || !earlier.splice(earlier.indexOf(each), 1),
    );
    if (left.includes('Timeout')) return ['a timer, such as a deadline that was not cleared'];
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(10);
  }
}

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
    this.before = listOpen();
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
    const left = await leftOpen(this.before);
    await super.teardown();
    this.restore();
    if (left.length > 0) throw new Error(`Tests left open: ${[...new Set(left)].join(', ')}`);
  }
};
