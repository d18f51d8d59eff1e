/*
 * What a process of a function, and the runtime of tests, have in common. Error types:
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-exceptions.html
 */
const path = require('node:path');

/** @param isLoading the errors of loading have types of their own */
function describe(error, isLoading = false) {
  // Not instanceof: the code may have another realm's Error.
  if (typeof error?.message !== 'string') {
    return { errorType: typeof error, errorMessage: String(error), trace: [] };
  }
  const described = {
    errorType: error.name,
    errorMessage: error.message,
    trace: String(error.stack).split('\n'),
  };
  if (isLoading && error.code === 'MODULE_NOT_FOUND') described.errorType = 'Runtime.ImportModuleError';
  if (isLoading && error.name === 'SyntaxError') described.errorType = 'Runtime.UserCodeSyntaxError';
  return described;
}

function named(name, message) {
  return Object.assign(new Error(message), { name });
}

function stringify(result) {
  try {
    return JSON.stringify(result === undefined ? null : result);
  } catch {
    throw named('Runtime.MarshalError', 'Unable to stringify response body');
  }
}

/**
 * @param load loads a module by its path
 * @returns what answers an invocation with a message
 */
function loadHandler({ LAMBDA_TASK_ROOT: taskRoot, _HANDLER: handlerName }, load, log = console.error) {
  const dot = handlerName.lastIndexOf('.');
  const module = load(path.join(taskRoot, handlerName.slice(0, dot)));
  const handler = module[handlerName.slice(dot + 1)];
  if (typeof handler !== 'function') {
    throw named('Runtime.HandlerNotFound', `${handlerName} is undefined or not exported`);
  }
  return async ({ event, context, deadline }) => {
    try {
      const result = await handler(JSON.parse(event), {
        ...context,
        callbackWaitsForEmptyEventLoop: true,
        getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
      });
      return { type: 'result', payload: stringify(result) };
    } catch (error) {
      const described = describe(error);
      log(`Invoke Error ${JSON.stringify(described)}`);
      return { type: 'error', error: described };
    }
  };
}

module.exports = { describe, loadHandler };
