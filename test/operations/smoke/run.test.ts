import { CommandFailed } from '../../../lib/operations/failure';
import { createRun, type StepResult } from '../../../lib/operations/smoke/run';

const passes = async () => ({ value: 'found', detail: 'as it should be' });
const fails = async (): Promise<never> => {
  throw new CommandFailed('It is not there.', 'Put it there.');
};

function start() {
  const interruption = new AbortController();
  const reported: StepResult[] = [];
  const run = createRun(interruption.signal, (result) => reported.push(result));
  const outcomes = () => reported.map(({ name, outcome }) => `${name}: ${outcome}`);
  return { run, reported, outcomes, interrupt: () => interruption.abort() };
}

it('a step that needs what failed is skipped, and the others go on', async () => {
  const { run, outcomes } = start();
  const first = await run.step('first', true, fails);
  await run.step('second', first, passes);
  await run.step('third', true, passes);
  expect(outcomes()).toEqual(['first: failed', 'second: skipped', 'third: passed']);
});

it('a step that cannot be told from here is unchecked, and skipped when what it needs failed', async () => {
  const { run, outcomes } = start();
  const first = await run.step('first', true, fails);
  run.leaveOut('second', first, 'only the receiver sees it');
  run.leaveOut('third', true, 'only the receiver sees it');
  expect(outcomes()).toEqual(['first: failed', 'second: skipped', 'third: unchecked']);
});

it('a failure says what, and what to do', async () => {
  const { run, reported } = start();
  await run.step('first', true, fails);
  expect(reported).toEqual([
    {
      name: 'first',
      outcome: 'failed',
      ms: expect.any(Number),
      detail: 'It is not there.',
      remedy: 'Put it there.',
    },
  ]);
});

it('a bug is a failure of its step, named a bug, and the last step is done all the same', async () => {
  const { run, reported, outcomes } = start();
  await run.step('first', true, () => Promise.reject(new TypeError('x is not a function')));
  await run.lastStep('clean up', true, passes);
  expect(outcomes()).toEqual(['first: failed', 'clean up: passed']);
  expect(reported[0]?.remedy).toContain('a bug of the command line: TypeError: x is not a function');
});

it('after Ctrl-C nothing begins but the last step', async () => {
  const { run, outcomes, interrupt } = start();
  const made = await run.step('make', true, passes);
  interrupt();
  await run.step('use', made, passes);
  await run.lastStep('clean up', made, passes);
  expect(outcomes()).toEqual(['make: passed', 'use: skipped', 'clean up: passed']);
});

it('a step that Ctrl-C ends has not failed', async () => {
  const { run, reported, interrupt } = start();
  await run.step('wait', true, async () => {
    interrupt();
    throw new DOMException('The operation was aborted', 'AbortError');
  });
  expect(reported).toMatchObject([{ outcome: 'skipped', detail: 'interrupted' }]);
});
