import { Console } from 'node:console';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { compileFunction } from 'node:vm';
import {
  type Code,
  type FailedInvocation,
  failed,
  type Instance,
  type Invocation,
} from '../../local/lambda/instance';

type Failure = Omit<FailedInvocation, 'ok'>;
type Handle = (
  invocation: Invocation,
) => Promise<
  { readonly type: 'result'; readonly payload: string } | { readonly type: 'error'; error: Failure }
>;

const { describe, loadHandler } = require('../../local/lambda/handler.cjs') as {
  describe(error: unknown, isLoading: boolean): Failure;
  loadHandler(variables: Code['environment'], load: (path: string) => object, log: Code['onLog']): Handle;
};

/**
 * Loads a function's code into this process: no process to start, and the code's own variables and output.
 * One that is killed goes on in the background, and its memory is not limited.
 */
export async function startInProcess(code: Code): Promise<Instance | FailedInvocation> {
  const { environment, onLog } = code;
  const output = new Writable({
    write(chunk, _, done) {
      for (const line of String(chunk).split('\n').filter(Boolean)) onLog(line);
      done();
    },
  });
  const own = { env: { ...environment }, stdout: output, stderr: output };
  const process = new Proxy(globalThis.process, {
    get: (target, name) =>
      Object.hasOwn(own, name) ? own[name as keyof typeof own] : Reflect.get(target, name),
  });
  const console = new Console(output, output);

  function load(path: string): object {
    const file = `${path}.js`;
    const module = { exports: {} };
    const names = ['module', 'exports', 'require', 'process', 'console', '__filename', '__dirname'];
    const run = compileFunction(readFileSync(file, 'utf8'), names, { filename: file });
    run(module, module.exports, createRequire(file), process, console, file, code.bundleDirectory);
    return module.exports;
  }

  let handle: Handle;
  try {
    handle = loadHandler(own.env, load, onLog);
  } catch (error) {
    return { ok: false, ...describe(error, true) };
  }
  let alive = true;
  let end: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const killed = ended.then(() => failed('Runtime.ExitError', 'Error: Runtime exited with error: killed'));
  return {
    get alive() {
      return alive;
    },
    ended,
    async invoke(invocation) {
      const answer = await Promise.race([handle(invocation), killed]);
      if ('ok' in answer) return answer;
      return answer.type === 'result'
        ? { ok: true, payload: answer.payload }
        : { ok: false, ...answer.error };
    },
    kill() {
      alive = false;
      end();
    },
  };
}
