import { createRun, type StepResult } from '../../../cli/smoke/run';

const passes = async () => ({ value: 'found', detail: 'as it should be' });

function start() {
  const interruption = new AbortController();
  const reported: StepResult[] = [];
  const run = createRun(interruption.signal, (result) => reported.push(result));
  return { run, reported, interrupt: () => interruption.abort() };
}

it('a bug is a failure of its step, named a bug, and the last step is done all the same', async () => {
  const { run, reported } = start();
  await run.step('first', true, () => Promise.reject(new TypeError('x is not a function')));
  await run.lastStep('clean up', true, passes);
  expect(reported).toMatchObject([{ outcome: 'failed' }, { name: 'clean up', outcome: 'passed' }]);
  expect(reported[0]?.remedy).toContain('a bug of the command line: TypeError: x is not a function');
});

it('a step that Ctrl-C ends has not failed, and nothing begins after it but the last step', async () => {
  const { run, reported, interrupt } = start();
  const made = await run.step('make', true, passes);
  await run.step('wait', made, async () => {
    interrupt();
    throw new DOMException('The operation was aborted', 'AbortError');
  });
  await run.step('use', made, passes);
  await run.lastStep('clean up', made, passes);
  expect(reported).toMatchObject([
    { name: 'make', outcome: 'passed' },
    { name: 'wait', outcome: 'skipped', detail: 'interrupted' },
    { name: 'use', outcome: 'skipped', detail: 'interrupted' },
    { name: 'clean up', outcome: 'passed' },
  ]);
});
