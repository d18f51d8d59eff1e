import { writeOutputs } from '../../support/outputs-file';
import { first } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { wallet } from '../region';

const folder = temporaryFolder();

/** Of a deployed environment, whose stack has no outputs. */
const smoke = (...args: string[]) => {
  const outputs = writeOutputs(folder(), { [first.stackId]: {} });
  return wallet('smoke', '--allow-production', '--outputs', outputs, ...args);
};

it.each([
  ['without a receiver that a deployed environment reaches', []],
  ['with a port that nothing leads to', ['--receiver-listen', '8010']],
  [
    'with a receiver and without webhooks',
    ['--receiver-url', 'https://a.customer.com/', '--without-webhook'],
  ],
  ['with a port that is none', ['--receiver-listen', '65536']],
  ['with a time beyond 15 minutes', ['--timeout', '16m']],
])('is used wrongly %s, and does nothing', async (_, args) => {
  expect(await smoke(...args)).toMatchObject({ exitCode: 2, stdout: '' });
});

it('names a receiver that no delivery can reach, and makes nothing', async () => {
  const url = 'http://hooks.customer.com/';
  const printed = await smoke('--receiver-url', url);
  expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
  expect(printed.stderr).toContain(`--receiver-url ${url}`);
});

it('skips what an external receiver would have received when nothing was sent', async () => {
  const printed = await smoke('--receiver-url', 'https://hooks.customer.com/wallet');
  expect(printed.stderr).toContain(`${first.name}: 2 failed, 10 skipped,`);
});

it('tells every step that fails, with --json too, and what to do', async () => {
  const printed = await smoke('--without-webhook', '--json');
  expect(printed.exitCode).toBe(1);
  expect(JSON.parse(printed.stdout)).toMatchObject({
    environment: first.name,
    passed: false,
    organizationId: null,
    steps: expect.arrayContaining([
      expect.objectContaining({
        outcome: 'failed',
        detail: expect.stringContaining('has no output OperationsFunctionName'),
        remedy: expect.stringContaining('deploy this one'),
      }),
      expect.objectContaining({ name: 'clean up', outcome: 'skipped' }),
    ]),
  });
  expect(printed.stderr).toContain(`${first.name}: 2 failed, 4 skipped, 6 unchecked`);
});
