const { ChildProcess } = require('node:child_process');
const { setTimeout: sleep } = require('node:timers/promises');
const { join, relative } = require('node:path');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

const root = join(__dirname, '../..');

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

/** Running ones. */
const children = new Set();
const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (...args) {
  const failure = spawn.apply(this, args);
  // With --runInBand, this process also starts what test files share.
  const isShared = globalThis.sharing?.getStore();
  if (this.pid !== undefined && !isShared) children.add(this.once('exit', () => children.delete(this)));
  return failure;
};

/** What is open, with what keeps no process alive: children, and the process's own listeners. */
function listOpen() {
  const signals = process.eventNames().filter((name) => /^SIG/.test(String(name)));
  const listeners = signals.flatMap((name) => process.listeners(name).map(() => `listener of ${name}`));
  const commands = Array.from(children, ({ spawnargs }) => spawnargs.join(' '));
  // esbuild's own is one for each worker.
  const processes = commands.filter((command) => !/esbuild --service=/.test(command));
  // Shutdowns of closed sockets are listed until they are collected.
  const resources = process.getActiveResourcesInfo().filter((name) => name !== 'SimpleShutdownWrap');
  return [...resources, ...listeners, ...processes];
}

/** What was not open before, and does not close within 20 s: more than any takes beside other load. */
async function leftOpen(before) {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const earlier = [...before];
    // Of what has one name, as many are new as there are more.
    const isNew = (each) => !earlier.includes(each) || !earlier.splice(earlier.indexOf(each), 1);
    const left = listOpen().filter(isNew);
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(10);
  }
}

/** The timers of the product's code, and the file that started them. */
const timers = new Map();
const { setTimeout: start } = globalThis;
globalThis.setTimeout = Object.assign((...args) => {
  const timer = start(...args);
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 8;
  Error.prepareStackTrace = (_, callers) =>
    // A test may have put a spy between.
    callers
      .map((each) => relative(root, each.getFileName() ?? ''))
      .find((file) => !/^(test|node_modules\/jest-mock)\//.test(file));
  const where = new Error().stack ?? '';
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  if (/^(cli|domain|lambda|local)\//.test(where)) timers.set(timer, where);
  return timer;
}, start);

/** Those that run and keep a process alive, each reported once. A test may share a local environment, which has some, with others. */
const leftRunning = (isInEnvironment) =>
  Array.from(timers, ([timer, where]) => {
    if (isInEnvironment && where.startsWith('local/')) return [];
    timers.delete(timer);
    return timer._destroyed || !timer.hasRef() ? [] : `timer of ${where}`;
  }).flat();

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

  handleTestEvent({ name, test }) {
    if (name !== 'test_done') return;
    const left = leftRunning(true);
    if (left.length > 0) test.errors.push(new Error(`The test left a ${[...new Set(left)].join(', ')}`));
  }

  async teardown() {
    const left = [...leftRunning(false), ...(await leftOpen(this.before))];
    await super.teardown();
    this.restore();
    if (left.length > 0) throw new Error(`Tests left open: ${[...new Set(left)].join(', ')}`);
  }
};
