import { Console } from 'node:console';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { compileFunction } from 'node:vm';
import { failed, type Instance, type JsonResult, type Runtime } from '../../local/aws/lambda/instance';

type Handle = Instance['invoke'];

const { describe, loadHandler } = require('../../local/aws/lambda/bootstrap.cjs') as {
  describe(error: unknown): JsonResult & { readonly ok: false };
  loadHandler(variables: object, load: (path: string) => object, log: (line: string) => void): Handle;
};

/**
 * Loads a function's code into this process, with its own variables and output.
 * A killed one keeps running in the background, and its memory is not limited.
 */
export const startInProcess: Runtime = async ({ variables, onLog, bundleDirectory }) => {
  const output = new Writable({
    write(chunk, _, done) {
      for (const line of String(chunk).split('\n').filter(Boolean)) onLog(line);
      done();
    },
  });
  const own = { env: { ...variables }, stdout: output, stderr: output };
  const process = new Proxy(globalThis.process, {
    get: (target, name) => Reflect.get(Object.hasOwn(own, name) ? own : target, name),
  });
  const console = new Console(output, output);

  function load(path: string): object {
    const file = `${path}.js`;
    const module = { exports: {} };
    const names = ['module', 'exports', 'require', 'process', 'console', '__filename', '__dirname'];
    const run = compileFunction(readFileSync(file, 'utf8'), names, { filename: file });
    run(module, module.exports, createRequire(file), process, console, file, bundleDirectory);
    return module.exports;
  }

  let handle: Handle;
  try {
    handle = loadHandler(own.env, load, onLog);
  } catch (error) {
    return describe(error);
  }
  const death = new AbortController();
  const error = failed('Runtime.ExitError', 'Error: Runtime exited with error: killed');
  const ended = once(death.signal, 'abort').then(() => error);
  return {
    isAlive: () => !death.signal.aborted,
    ended,
    invoke: (invocation) => Promise.race([handle(invocation), ended]),
    kill: () => death.abort(),
  };
};
