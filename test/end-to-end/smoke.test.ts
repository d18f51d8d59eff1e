import { join } from 'node:path';
import { environments } from '../../lib/environments';
import { eventually } from '../support/eventually';
import { startWallet } from '../support/local-command';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet, writeOutputs } from '../support/wallet-command';

const { name: environment, stackId } = first;
let local: LocalEnvironment;
const folder = temporaryFolder();
beforeAll(async () => {
  local = await localEnvironment();
});

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

it('another address is a failure, the rest is checked all the same, and it cleans up', async () => {
  const stack = { ...local.outputs(environment), WebhookOriginAddress: '203.0.113.7' };
  const outputs = writeOutputs(folder(), { [stackId]: stack }, local.endpoints);
  const options = ['--environment', environment, '--outputs', outputs, '--json'];
  const { exitCode, stdout } = await runWallet(['smoke', ...options]);
  expect(exitCode).toBe(1);
  const { steps } = JSON.parse(stdout) as { steps: { name: string; outcome: string }[] };
  expect(steps.filter(({ outcome }) => outcome !== 'passed')).toMatchObject([
    { outcome: 'failed', name: 'check GET /webhook-origins' },
  ]);
  await expectRemoved(stdout);
});

it('cleans up and exits on Ctrl-C', async () => {
  const options = ['--environment', environment, '--outputs', join(local.stateDirectory, 'outputs.json')];
  const command = startWallet('smoke', ...options, '--receiver-url', 'http://127.0.0.1:1/');
  await eventually(() => command.said.stdout.includes('send an event'), 30);
  command.process.kill('SIGINT');
  const { exitCode, stdout, stderr } = await command.ended();
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/find it in the delivery log +interrupted\n.*passed +\d+\.\d\d s {2}clean up/s);
  expect(stderr).not.toContain('Error');
  await expectRemoved(stdout);
});
