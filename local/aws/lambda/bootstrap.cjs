/*
 * A function's process: loads the bundle, then runs invocations from the IPC channel one at a time. Plain CommonJS, for
 * a fast start without a transpiler. The tests' runtime uses its exports.
 * Error types: https://docs.aws.amazon.com/lambda/latest/dg/nodejs-exceptions.html
 */
const path = require('node:path');

/** Converts an error to a failed invocation. */
function describe(error) {
  // Not instanceof: the code may throw another realm's Error.
  if (typeof error?.message !== 'string') {
    return { ok: false, errorType: typeof error, errorMessage: String(error), trace: [] };
  }
  const { name, message, stack } = error;
  return { ok: false, errorType: name, errorMessage: message, trace: String(stack).split('\n') };
}

/**
 * @param load loads a module by path
 * @returns a function that runs an invocation, and never rejects
 */
function loadHandler({ LAMBDA_TASK_ROOT: taskRoot, _HANDLER: handlerName }, load, log = console.error) {
  const { dir, name: file, ext } = path.parse(handlerName);
  const handler = load(path.join(taskRoot, dir, file))[ext.slice(1)];
  if (typeof handler !== 'function') {
    const error = new Error(`${handlerName} is undefined or not exported`);
    throw Object.assign(error, { name: 'Runtime.HandlerNotFound' });
  }
  return async ({ event, context, deadline }) => {
    try {
      const result = await handler(JSON.parse(event), {
        ...context,
        callbackWaitsForEmptyEventLoop: true,
        getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
      });
      return { ok: true, payload: JSON.stringify(result ?? null) };
    } catch (error) {
      const { ok: _, ...described } = describe(error);
      log(`Invoke Error ${JSON.stringify(described)}`);
      return { ok: false, ...described };
    }
  };
}

module.exports = { describe, loadHandler };

if (require.main === module) {
  process.on('disconnect', () => process.exit(0));
  // Ctrl-C in a terminal reaches every process of its group; only the parent stops functions.
  process.on('SIGINT', () => {});
  try {
    const handle = loadHandler(process.env, require);
    process.on('message', (invocation) => handle(invocation).then((result) => process.send(result)));
    process.send({ ok: true });
  } catch (error) {
    process.send(describe(error), () => process.exit(1));
  }
}
