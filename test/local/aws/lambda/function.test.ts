import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { type LocalFunctionOptions, startFunction } from '../../../../local/aws/lambda/function';
import { startProcess } from '../../../../local/aws/lambda/instance';
import { isAlive } from '../../../../local/shared/processes';
import { eventually } from '../../../support/eventually';
import { startInProcess } from '../../../support/in-process';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
const functions: ReturnType<typeof startFunction>[] = [];
afterEach(() => jest.restoreAllMocks());
afterEach(() => Promise.all(functions.splice(0).map((each) => each.stop())));

/** @param body of a handler with `event` and `context` */
function start(body: string, options: Partial<LocalFunctionOptions> = {}) {
  const bundleDirectory = mkdtempSync(join(folder(), 'function-'));
  const code = `exports.handler = async (event, context) => { ${body} };`;
  writeFileSync(join(bundleDirectory, 'index.js'), code);
  const started = startFunction({
    name: 'under-test',
    bundleDirectory,
    handler: 'index.handler',
    variables: {},
    timeoutSeconds: 10,
    memoryMiB: 128,
    region: 'eu-central-1',
    onLog: () => {},
    runtime: startInProcess,
    ...options,
  });
  functions.push(started);
  return started;
}

test('a process has its event, context, log, and no other variables, and survives an error', async () => {
  const lines: string[] = [];
  const echo = start(
    `console.log("first"); if (event.fail) throw new RangeError("too far");
     return { event, context, remaining: context.getRemainingTimeInMillis(), env: process.env };`,
    { runtime: startProcess, variables: { TABLE: 'groups' }, onLog: (line) => lines.push(line) },
  );
  const event = { a: [1, 'ü', null] };
  const { payload } = (await echo.invoke(event)) as { payload: Record<'env' | 'context', object> };
  expect(payload).toMatchObject({ event, remaining: expect.any(Number) });
  expect(payload.context).toMatchSnapshot({ awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  // Those of https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html that bundles read.
  expect(payload.env).toEqual({
    TABLE: 'groups',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: 'under-test',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_REGION: 'eu-central-1',
    LAMBDA_TASK_ROOT: expect.stringMatching(/^\/.*function-/),
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: 'UTC',
    _HANDLER: 'index.handler',
  });
  const instances = echo.instances();
  const trace = expect.arrayContaining(['RangeError: too far']);
  const failure = { ok: false, errorType: 'RangeError', errorMessage: 'too far', trace };
  expect(await echo.invoke({ fail: true })).toEqual(failure);
  expect(echo.instances()).toEqual(instances);
  await eventually(() => lines.length === 3);
  expect(lines).toEqual(['first', 'first', expect.stringMatching(/^Invoke Error .*too far/)]);
});

test('instances run one invocation at a time, up to the maximum, and end after a while without one', async () => {
  const busy = start('await new Promise(setImmediate);', { maxInstances: 1, idleLimit: 500 });
  // On a machine where the second waits for the start of the first.
  jest.spyOn(os, 'availableParallelism').mockReturnValue(1);
  busy.reserve(1);
  busy.reserve(1);
  const results = await Promise.all(Array.from({ length: 12 }, () => busy.invoke({})));
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(busy.instances()).toHaveLength(2);
  busy.endIdle();
  await eventually(() => busy.instances().length === 0);
  expect(await busy.invoke({})).toMatchObject({ ok: true });
  await eventually(() => busy.instances().length === 0);
});

test.each([
  ['throws outside of the handler', 'setImmediate(() => { throw new Error("later"); })', 'exit status 1'],
  ['loops endlessly', 'for (;;)', 'Task timed out after 2.00 seconds'],
])('a process that %s is replaced', async (_, code, reason) => {
  const body = `if (event.crash) { ${code}; await new Promise(() => {}); }`;
  const crasher = start(body, { timeoutSeconds: 2, runtime: startProcess });
  const errorMessage = expect.stringContaining(reason);
  expect(await crasher.invoke({ crash: true })).toMatchObject({ ok: false, errorMessage });
  expect(await crasher.invoke({})).toMatchObject({ ok: true });
});

test('a process that was killed while idle is replaced; stop() leaves no process', async () => {
  const idle = start('return process.pid;', { runtime: startProcess });
  const pidOf = async () => ((await idle.invoke({})) as { payload: number }).payload;
  const first = await pidOf();
  process.kill(first, 'SIGKILL');
  await eventually(() => idle.instances().length === 0);
  const next = await pidOf();
  expect(next).not.toBe(first);
  await idle.stop();
  expect(isAlive(next)).toBe(false);
  expect(await idle.invoke({})).toMatchObject({ errorType: 'Runtime.Stopped' });
});
