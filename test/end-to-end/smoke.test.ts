import { join } from 'node:path';
import { environments } from '../../lib/environments';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import { startWallet } from '../support/node-process';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet } from '../support/wallet-command';

jest.setTimeout(60_000);

const { name: environment, stackId } = first;
const another = environments.at(-1)?.name ?? '';
let local: LocalEnvironment;
const folder = temporaryFolder();
beforeAll(async () => {
  local = await localEnvironment();
}, 90_000);

const organizationIn = (printed: string) => /or-[\w-]+/.exec(printed)?.[0] ?? '';

/** "seed" adds groups to existing organizations, and reports missing ones. */
const expectRemoved = (printed: string, name = environment) =>
  expect(local.wallet(name, 'seed', '--organization', organizationIn(printed))).rejects.toThrow(
    `${organizationIn(printed)} is not an organization`,
  );

it.each(environments)('every step passes in $name, and its data is removed', async ({ name }) => {
  const printed = await local.wallet(name, 'smoke');
  const rows = printed.split('\n').slice(1);
  expect(rows).toHaveLength(12);
  expect(rows.filter((row) => !/^passed +\d+\.\d\d s {2}/.test(row))).toEqual([]);
  await expectRemoved(printed, name);
});

it("another address and another stack's key are failures, the rest is checked all the same, and it cleans up", async () => {
  const wrong = {
    WebhookOriginAddress: '203.0.113.7',
    WebhookSecretsKeyArn: local.outputs(another).WebhookSecretsKeyArn ?? '',
  };
  const outputs = writeOutputs(
    folder(),
    { [stackId]: { ...local.outputs(environment), ...wrong } },
    local.endpoints,
  );
  const { exitCode, stdout } = await runWallet([
    ...['smoke', '--environment', environment, '--outputs', outputs, '--json'],
  ]);
  expect(exitCode).toBe(1);
  const { steps } = JSON.parse(stdout) as { steps: { name: string; outcome: string }[] };
  expect(steps.filter(({ outcome }) => outcome !== 'passed')).toMatchObject([
    { outcome: 'failed', name: 'check GET /webhook-origins' },
    { outcome: 'failed', name: 'verify its signature' },
    { outcome: 'failed', name: 'check its source address' },
  ]);
  await expectRemoved(stdout);
});

it.each<[string, (child: ReturnType<typeof startWallet>) => void, RegExp]>([
  [
    'Ctrl-C',
    ({ process: child, said }) =>
      !child.killed && said.stdout.includes('verify its signature') && child.kill('SIGINT'),
    /find it in the delivery log +interrupted\n.*passed +\d+\.\d\d s {2}clean up/s,
  ],
  ['a closed output, as with head', ({ process: child }) => child.stdout.destroy(), /./],
])('cleans up and exits on %s', async (_, interrupt, expected) => {
  const options = ['--environment', environment, '--outputs', join(local.stateDirectory, 'outputs.json')];
  const command = startWallet('smoke', ...options, '--receiver-url', 'http://127.0.0.1:1/');
  command.process.stdout.on('data', () => organizationIn(command.said.stdout) && interrupt(command));
  const { exitCode, stdout, stderr } = await command.ended();
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(expected);
  expect(stderr).not.toContain('Error');
  await expectRemoved(stdout);
});
