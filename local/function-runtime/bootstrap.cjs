/*
 * Runs inside a function's process: loads the bundle, then answers one invocation at a time over the IPC
 * channel. Plain CommonJS, so that the process needs no transpiler and starts as fast as the bundle does.
 * Error types: https://docs.aws.amazon.com/lambda/latest/dg/nodejs-exceptions.html
 */
const path = require('node:path');

process.on('disconnect', () => process.exit(0));
// Ctrl-C in a terminal reaches every process of its group; only the parent decides when functions end.
process.on('SIGINT', () => {});

const { LAMBDA_TASK_ROOT: taskRoot, _HANDLER: handlerName } = process.env;

function describe(error) {
  return error instanceof Error
    ? { errorType: error.name, errorMessage: error.message, trace: String(error.stack).split('\n') }
    : { errorType: typeof error, errorMessage: String(error), trace: [] };
}

function load() {
  const dot = handlerName.lastIndexOf('.');
  const module = require(path.join(taskRoot, handlerName.slice(0, dot)));
  const handler = module[handlerName.slice(dot + 1)];
  if (typeof handler === 'function') return handler;
  const missing = new Error(`${handlerName} is undefined or not exported`);
  missing.name = 'Runtime.HandlerNotFound';
  throw missing;
}

function describeLoadFailure(error) {
  const described = describe(error);
  if (error?.code === 'MODULE_NOT_FOUND') return { ...described, errorType: 'Runtime.ImportModuleError' };
  if (error instanceof SyntaxError) return { ...described, errorType: 'Runtime.UserCodeSyntaxError' };
  return described;
}

function stringify(result) {
  try {
    return JSON.stringify(result === undefined ? null : result);
  } catch {
    const unserializable = new Error('Unable to stringify response body');
    unserializable.name = 'Runtime.MarshalError';
    throw unserializable;
  }
}

async function run(handler, { event, context, deadline }) {
  try {
    const result = await handler(JSON.parse(event), {
      ...context,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    });
    process.send({ type: 'result', payload: stringify(result) });
  } catch (error) {
    const described = describe(error);
    console.error(`Invoke Error ${JSON.stringify(described)}`);
    process.send({ type: 'error', error: described });
  }
}

try {
  const handler = load();
  process.on('message', (request) => run(handler, request));
  process.send({ type: 'ready' });
} catch (error) {
  process.send({ type: 'failed', error: describeLoadFailure(error) }, () => process.exit(1));
}
