import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startProcess } from '../../../local/lambda/process';
import { isAlive } from '../../../local/processes';
import { eventually } from '../../support/eventually';
import { startInProcess } from '../../support/in-process';
import { localFunctions } from '../../support/local-function';

const { bundle, start: startFunction } = localFunctions();

describe.each([
  ['in a process', startProcess],
  ['in this process', startInProcess],
])('%s', (_, runtime) => {
  const start = (body: string, options: Parameters<typeof startFunction>[1] = {}) =>
    startFunction(body, { runtime, ...options });

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
  });

  test('the context is like that of Lambda', async () => {
    const remaining = 'return { ...context, remaining: context.getRemainingTimeInMillis() };';
    const result = await start(remaining).invoke({});
    if (!result.ok) throw new Error(result.errorMessage);
    expect(result.payload).toMatchObject({
      functionName: 'under-test',
      invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:under-test',
      memoryLimitInMB: '128',
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      remaining: expect.any(Number),
    });
  });

  test('an instance is used again, and keeps its memory', async () => {
    const counter = start('process.count = (process.count ?? 0) + 1; return process.count;');
    await counter.invoke({});
    const [before] = counter.instances();
    await counter.invoke({});
    expect(counter.instances()).toEqual([before]);
  });

  test('idle instances end when they are not needed soon', async () => {
    const rare = start('return 1;');
    await rare.invoke({});
    rare.endIdle();
    await eventually(() => rare.instances().length === 0);
    expect(await rare.invoke({})).toEqual({ ok: true, payload: 1 });
  });

  test('what it writes is logged; a thrown error is a result, and the instance stays', async () => {
    const lines: string[] = [];
    const thrower = start('console.log("first"); throw new RangeError("too far");', {
      onLog: (line) => lines.push(line),
    });
    expect(await thrower.invoke({})).toEqual({
      ok: false,
      errorType: 'RangeError',
      errorMessage: 'too far',
      trace: expect.arrayContaining(['RangeError: too far']),
    });
    expect(thrower.instances()).toEqual([expect.objectContaining({ busy: false })]);
    await eventually(() => lines.length === 2);
    expect(lines).toEqual(['first', expect.stringMatching(/^Invoke Error .*too far/)]);
  });

  test.each([
    ['undefined export', 'exports.other = 1;', 'Runtime.HandlerNotFound'],
    ['missing module', 'require("./absent");', 'Runtime.ImportModuleError'],
    ['syntax error', 'exports.handler = (', 'Runtime.UserCodeSyntaxError'],
    ['throwing at load', 'throw new TypeError("no");', 'TypeError'],
  ])('code that does not load (%s) is an error of each invocation', async (_, code, errorType) => {
    const broken = start('', { bundleDirectory: bundle(code) });
    for (const event of [1, 2]) expect(await broken.invoke(event)).toMatchObject({ ok: false, errorType });
  });

  test('past its timeout an invocation ends, and the next gets a new instance', async () => {
    const slow = start('if (event.hang) await new Promise(() => {}); return "done";', {
      timeoutSeconds: 0.3,
    });
    expect(await slow.invoke({ hang: true })).toMatchObject({
      ok: false,
      errorType: 'Sandbox.Timedout',
      errorMessage: expect.stringMatching(/Task timed out after 0\.30 seconds$/),
    });
    expect(await slow.invoke({})).toEqual({ ok: true, payload: 'done' });
  });

  test('instances run one invocation each, grow to the maximum, and the rest wait their turn', async () => {
    const busy = start(
      `globalThis.running = (globalThis.running ?? 0) + 1;
       const together = globalThis.running;
       await new Promise((resolve) => setTimeout(resolve, 20));
       globalThis.running -= 1;
       return together;`,
      { maxInstances: 1 },
    );
    busy.reserve(1);
    busy.reserve(1);
    const results = await Promise.all(Array.from({ length: 12 }, () => busy.invoke({})));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(busy.instances()).toHaveLength(2);
  });

  test('an aborted caller stops waiting, and the invocation that runs is left to end', async () => {
    const lines: string[] = [];
    const slow = start(
      'console.log("began", event.id); await new Promise((resolve) => setTimeout(resolve, 300)); console.log("ended", event.id);',
      { maxInstances: 1, onLog: (line) => lines.push(line) },
    );
    const abort = new AbortController();
    const calls = [1, 2].map((id) => slow.invoke({ id }, { signal: abort.signal }));
    await eventually(() => lines.length === 1);
    abort.abort();
    for (const call of calls) expect(await call).toMatchObject({ ok: false, errorType: 'AbortError' });
    expect(await slow.invoke({ id: 3 })).toMatchObject({ ok: true });
    await eventually(() => lines.length === 4);
    expect(lines).toEqual(['began 1', 'ended 1', 'began 3', 'ended 3']);
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
    const errorType = 'Runtime.MarshalError';
    expect(await start('return 1n;').invoke({})).toMatchObject({ ok: false, errorType });
  });

  test('stop() ends running and waiting invocations, and later ones', async () => {
    const slow = start('await new Promise(() => {});', { maxInstances: 1, timeoutSeconds: 60 });
    const calls = [slow.invoke({}), slow.invoke({})];
    await eventually(() => slow.instances().length === 1);
    await slow.stop();
    expect((await Promise.all(calls)).map(({ ok }) => ok)).toEqual([false, false]);
    expect(await slow.invoke({})).toMatchObject({ ok: false, errorType: 'Runtime.Stopped' });
  });
});

test.each([
  ['exits', 'process.exit(1)', 'exit status 1'],
  ['is killed', 'process.kill(process.pid, "SIGKILL")', 'signal: SIGKILL'],
  ['throws outside of the handler', 'setImmediate(() => { throw new Error("later"); })', 'exit status 1'],
  ['takes too much memory', 'const all = []; for (;;) all.push(new Array(1e6).fill(1.5))', ''],
])('a process that %s is an error result, and the next one gets a new one', async (_, code, reason) => {
  const crasher = startFunction(
    `if (event.crash) { ${code}; await new Promise(() => {}); } return "alive";`,
    { memoryMiB: 32 },
  );
  expect(await crasher.invoke({ crash: true })).toMatchObject({
    ok: false,
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringContaining(reason),
  });
  expect(await crasher.invoke({})).toEqual({ ok: true, payload: 'alive' });
});

test('a process is killed from an endless loop, by its timeout and by stop()', async () => {
  const endless = startFunction('for (;;);', { timeoutSeconds: 0.3 });
  expect(await endless.invoke({})).toMatchObject({ errorType: 'Sandbox.Timedout' });
  const call = endless.invoke({});
  await eventually(() => endless.instances().some(({ busy }) => busy));
  const [{ pid } = { pid: 0 }] = endless.instances();
  await endless.stop();
  expect(isAlive(Number(pid))).toBe(false);
  expect(await call).toMatchObject({ ok: false });
});

test('a process that is killed while idle is replaced', async () => {
  const victim = startFunction('return process.pid;');
  const first = await victim.invoke({});
  process.kill((first as { payload: number }).payload, 'SIGKILL');
  await eventually(() => victim.instances().length === 0);
  expect(await victim.invoke({})).toMatchObject({ ok: true });
});

test('when the parent is killed, its functions end by themselves', async () => {
  const directory = bundle('exports.handler = async () => {};');
  const bootstrap = join(__dirname, '../../../local/lambda/bootstrap.cjs');
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
