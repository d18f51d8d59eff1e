import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wallet } from '../region';

/** A file of outputs without `endpoints.json` beside it: deployed. */
let directory: string;
let outputs: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'wallet-smoke-'));
  outputs = join(directory, 'outputs.json');
  await writeFile(outputs, '{"WalletEu":{},"WalletUae":{},"WalletStaging":{}}');
});
afterAll(() => rm(directory, { recursive: true }));

it.each(['eu', 'uae'])('does not write to %s, deployed and in production, unless told to', async (name) => {
  const printed = await wallet('smoke', '--environment', name, '--outputs', outputs, '--without-webhook');
  expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
  expect(printed.stderr).toContain('--allow-production');
});

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
  const printed = await wallet('smoke', '--environment', 'staging', '--outputs', outputs, ...args);
  expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
});

it.each(['http://hooks.customer.com/', 'nope', ''])(
  'is used wrongly with a receiver at "%s", tells it, and makes nothing',
  async (url) => {
    const place = ['--environment', 'staging', '--outputs', outputs];
    const printed = await wallet('smoke', ...place, '--receiver-url', url);
    expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
    expect(printed.stderr).toContain(`--receiver-url ${url || "''"}`);
  },
);

it('tells what somebody else would have received as skipped when nothing was sent', async () => {
  const place = ['--environment', 'staging', '--outputs', outputs];
  const printed = await wallet('smoke', ...place, '--receiver-url', 'https://hooks.customer.com/wallet');
  expect(printed.stderr).toContain('staging: 2 failed, 10 skipped,');
});

it('tells every step that fails, with --json too, and what to do', async () => {
  const place = ['--environment', 'staging', '--outputs', outputs, '--without-webhook'];
  const printed = await wallet('smoke', ...place, '--json');
  expect(printed.exitCode).toBe(1);
  expect(JSON.parse(printed.stdout)).toMatchObject({
    environment: 'staging',
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
  expect(printed.stderr).toContain('staging: 2 failed, 4 skipped, 6 unchecked');
});
