import { first } from '../../support/rows';
import { environments } from '../../support/table';
import { temporaryFolder } from '../../support/temporary-folder';
import { writeOutputs } from '../../support/wallet-command';
import { wallet } from '../region';

const folder = temporaryFolder();
const origins = (stacks: object | string, ...args: string[]) =>
  wallet('origins', '--outputs', writeOutputs(folder(), stacks), ...args);

const [reserve, standby] = ['3.120.15.1', '34.240.1.1'];
const addresses = environments.map((_, index) => `3.120.14.${index + 1}`);
/** All environments, the first with a reserve and one in its standby, not in the order of the table; and another stack. */
const deployed = Object.fromEntries([
  ['AStandby', { DatabaseClusterArn: 'arn:aws:rds:eu-west-1:000000000000:cluster:standby' }],
  ...environments
    .map(({ stackId }, index) => [stackId, { WebhookOriginAddress: addresses[index] }])
    .reverse(),
]);
Object.assign(deployed[first.stackId], {
  WebhookOriginReserveAddress: reserve,
  WebhookOriginStandbyAddress: standby,
});

it('prints a plain list of all environments, in the order of the table, reserves last', async () => {
  const { stdout } = await origins(deployed);
  const listed = stdout.split('\n').filter((line) => line && !line.startsWith('#'));
  expect(listed).toEqual([...addresses, reserve, standby].map((each) => `${each}/32`));
});

it('prints one environment, for the given port, or as JSON', async () => {
  const one = ['--environment', first.name];
  const { stdout } = await origins(deployed, ...one, '--format', 'nftables', '--port', '8443');
  expect(stdout).toContain('tcp dport 8443 drop');
  const printed = JSON.parse((await origins(deployed, ...one, '--json')).stdout);
  expect(printed).toMatchObject([
    { addresses: [`${addresses[0]}/32`], reserve: [`${reserve}/32`, `${standby}/32`] },
  ]);
});

it.each([
  // Nothing of it is printed: it may be a file with a password.
  ['"password"', /^(?!.*password).*outputs\.json is not a JSON object\.\nWith --outputs, name the file/s],
  [{ Other: {} }, /has no outputs of any environment\. It has: Other/],
])('fails, with nothing on stdout, for the outputs %j', async (content, message) => {
  const printed = await origins(content);
  expect(printed).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(message) });
});
