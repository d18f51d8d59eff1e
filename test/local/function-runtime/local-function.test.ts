import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isAlive } from '../../../local/processes';
import { eventually } from '../../support/eventually';
import { localFunctions } from '../../support/local-function';

const { bundle, start } = localFunctions();

test('an event goes in and a result comes out as JSON', async () => {
  const echo = start('return { event, when: new Date(0), nothing: undefined };');
  expect(await echo.invoke({ a: [1, 'ü', null] })).toEqual({
    ok: true,
    payload: { event: { a: [1, 'ü', null] }, when: '1970-01-01T00:00:00.000Z' },
  });
  expect(await start('').invoke(undefined)).toEqual({ ok: true, payload: null });
});

test('the environment is what was given and what Lambda adds, and nothing of the parent process', async () => {
  process.env.SECRET_OF_THE_PARENT = 'leaked';
  const result = await start('return process.env;', { environment: { TABLE: 'groups' } }).invoke({});
  delete process.env.SECRET_OF_THE_PARENT;
  if (!result.ok) throw new Error(result.errorMessage);
  expect(result.payload).toMatchObject({
    TABLE: 'groups',
    AWS_REGION: 'eu-central-1',
    AWS_LAMBDA_FUNCTION_NAME: 'under-test',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
    TZ: 'UTC',
  });
  expect(result.payload).not.toHaveProperty('SECRET_OF_THE_PARENT');
  expect(result.payload).not.toHaveProperty('NODE_OPTIONS');
});

test('the context is like that of Lambda', async () => {
  const result = await start('return { ...context, remaining: context.getRemainingTimeInMillis() };').invoke(
    {},
  );
  expect(result).toMatchObject({
    ok: true,
    payload: {
      functionName: 'under-test',
      invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:under-test',
      memoryLimitInMB: '128',
      logGroupName: '/aws/lambda/under-test',
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
  });
  const { remaining } = (result as { payload: { remaining: number } }).payload;
  expect(remaining).toBeGreaterThan(8_000);
  expect(remaining).toBeLessThanOrEqual(10_000);
});

test('a warm instance is used again, and keeps its memory', async () => {
  const counter = start('globalThis.count = (globalThis.count ?? 0) + 1; return globalThis.count;');
  await counter.warm();
  const [before] = counter.instances();
  for (const payload of [1, 2, 3]) expect(await counter.invoke({})).toEqual({ ok: true, payload });
  expect(counter.instances()).toEqual([before]);
});

test('a thrown error is a result with its type, message and trace, and the instance stays', async () => {
  const lines: string[] = [];
  const thrower = start('throw new RangeError("too far");', { onLog: (line) => lines.push(line) });
  expect(await thrower.invoke({})).toEqual({
    ok: false,
    errorType: 'RangeError',
    errorMessage: 'too far',
    trace: expect.arrayContaining(['RangeError: too far']),
  });
  expect(thrower.instances()).toHaveLength(1);
  await eventually(() => lines.some((line) => line.includes('too far')));
});

test.each([
  ['undefined export', 'exports.other = 1;', 'Runtime.HandlerNotFound'],
  ['missing module', 'require("./absent");', 'Runtime.ImportModuleError'],
  ['syntax error', 'exports.handler = (', 'Runtime.UserCodeSyntaxError'],
  ['throwing at load', 'throw new TypeError("no");', 'TypeError'],
  ['exiting at load', 'process.exit(3);', 'Runtime.ExitError'],
])(
  'code that does not load (%s) is an error of each invocation and of warm()',
  async (_, code, errorType) => {
    const broken = start('', { bundleDirectory: bundle(code) });
    await expect(broken.warm()).rejects.toThrow(errorType);
    expect(await broken.invoke({})).toMatchObject({ ok: false, errorType });
    expect(await broken.invoke({})).toMatchObject({ ok: false, errorType });
  },
);

test('past its timeout an invocation is killed, even in an endless loop, and the next gets a new instance', async () => {
  const slow = start('if (event.hang) for (;;); return "done";', { timeoutSeconds: 0.3 });
  await slow.warm();
  const [before] = slow.instances();
  expect(await slow.invoke({ hang: true })).toMatchObject({
    ok: false,
    timedOut: true,
    errorType: 'Sandbox.Timedout',
    errorMessage: expect.stringMatching(/Task timed out after 0\.30 seconds$/),
  });
  expect(await slow.invoke({})).toEqual({ ok: true, payload: 'done' });
  expect(slow.instances().map(({ pid }) => pid)).not.toContain(before?.pid);
});

test.each([
  ['exits', 'process.exit(1)', 'exit status 1'],
  ['is killed', 'process.kill(process.pid, "SIGKILL")', 'signal: SIGKILL'],
  ['throws outside of the handler', 'setImmediate(() => { throw new Error("later"); })', 'exit status 1'],
])(
  'a process that %s is an error result, and the next invocation gets a new one',
  async (_, code, reason) => {
    const crasher = start(`if (event.crash) { ${code}; await new Promise(() => {}); } return "alive";`);
    expect(await crasher.invoke({ crash: true })).toMatchObject({
      ok: false,
      errorType: 'Runtime.ExitError',
      errorMessage: expect.stringContaining(reason),
    });
    expect(await crasher.invoke({})).toEqual({ ok: true, payload: 'alive' });
  },
);

test('an instance killed from outside while idle is replaced', async () => {
  const victim = start('return process.pid;');
  await victim.warm();
  const pid = victim.instances()[0]?.pid as number;
  process.kill(pid, 'SIGKILL');
  await eventually(() => victim.instances().length === 0);
  expect(await victim.invoke({})).toMatchObject({ ok: true });
});

test('instances run one invocation each, grow to the maximum, and the rest wait their turn', async () => {
  const busy = start(
    `globalThis.running = (globalThis.running ?? 0) + 1;
     const together = globalThis.running;
     await new Promise((resolve) => setTimeout(resolve, 50));
     globalThis.running -= 1;
     return { together, pid: process.pid };`,
    { maxInstances: 2 },
  );
  const results = await Promise.all(Array.from({ length: 12 }, () => busy.invoke({})));
  const payloads = results.map(
    (result) => (result as { payload: { together: number; pid: number } }).payload,
  );
  expect(payloads.every(({ together }) => together === 1)).toBe(true);
  expect(new Set(payloads.map(({ pid }) => pid)).size).toBe(2);
});

test('more than the reserved concurrency is throttled', async () => {
  const reserved = start('await new Promise((resolve) => setTimeout(resolve, 100)); return 1;', {
    reservedConcurrency: 1,
  });
  const first = reserved.invoke({});
  expect(await reserved.invoke({})).toMatchObject({ ok: false, errorType: 'TooManyRequestsException' });
  expect(await first).toEqual({ ok: true, payload: 1 });
  expect(await reserved.invoke({})).toEqual({ ok: true, payload: 1 });
});

test('an aborted caller stops waiting, and the invocation that runs is left to end', async () => {
  const lines: string[] = [];
  const slow = start(
    'await new Promise((resolve) => setTimeout(resolve, 200)); console.log("ended", event.id);',
    {
      maxInstances: 1,
      onLog: (line) => lines.push(line),
    },
  );
  await slow.warm();
  const running = slow.invoke({ id: 1 }, { signal: AbortSignal.timeout(50) });
  const queued = slow.invoke({ id: 2 }, { signal: AbortSignal.timeout(50) });
  expect(await running).toMatchObject({ ok: false, errorType: 'AbortError' });
  expect(await queued).toMatchObject({ ok: false, errorType: 'AbortError' });
  expect(await slow.invoke({ id: 3 })).toMatchObject({ ok: true });
  await eventually(() => lines.length === 2);
  expect(lines).toEqual(['ended 1', 'ended 3']);
});

test.each([
  [6_291_556, 0, { ok: false, errorType: 'RequestEntityTooLargeException' }],
  [0, 6_291_555, { ok: false, errorType: 'Function.ResponseSizeTooLarge' }],
  [6_291_554, 6_291_554, { ok: true }],
])('an event of %i and a result of %i characters: %j', async (event, result, outcome) => {
  const sized = start(`return "x".repeat(${result});`);
  expect(await sized.invoke('x'.repeat(event))).toMatchObject(outcome);
});

test('a result that is no JSON is an error', async () => {
  expect(await start('return 1n;').invoke({})).toMatchObject({
    ok: false,
    errorType: 'Runtime.MarshalError',
  });
});

test('memory beyond the given size ends the process, not the parent', async () => {
  const hoarder = start('const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()));', {
    memoryMiB: 32,
  });
  expect(await hoarder.invoke({})).toMatchObject({ ok: false, errorType: 'Runtime.ExitError' });
});

test('stop() ends all processes within a second, and running and waiting invocations are errors', async () => {
  const slow = start('for (;;);', { maxInstances: 1, timeoutSeconds: 60 });
  await slow.warm();
  const pid = slow.instances()[0]?.pid as number;
  const calls = [slow.invoke({}), slow.invoke({})];
  const before = Date.now();
  await slow.stop();
  expect(Date.now() - before).toBeLessThan(1_000);
  expect(isAlive(pid)).toBe(false);
  expect((await Promise.all(calls)).map(({ ok }) => ok)).toEqual([false, false]);
  expect(await slow.invoke({})).toMatchObject({ ok: false, errorType: 'Runtime.Stopped' });
});

test('when the parent is killed, its functions end by themselves', async () => {
  const directory = bundle('exports.handler = async () => {};');
  const bootstrap = join(__dirname, '../../../local/function-runtime/bootstrap.cjs');
  const script = `
    const child = require('node:child_process').fork(${JSON.stringify(bootstrap)}, [], {
      env: { LAMBDA_TASK_ROOT: ${JSON.stringify(directory)}, _HANDLER: 'index.handler' } });
    child.on('message', () => console.log(child.pid));`;
  const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: parent.stdout }), 'line');
  const pid = Number(line);
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await eventually(() => !isAlive(pid));
});
