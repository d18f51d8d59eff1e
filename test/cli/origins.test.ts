import { environments } from '../../lib/environments';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { wallet } from './region';

/** One for each row, in the order of the table; the first has a reserve. */
const addresses = environments.map((_, index) => `3.120.14.${index + 1}`);
const [address = ''] = addresses;
const reserve = '3.120.15.1';

const folder = temporaryFolder();
let outputs: string;
beforeEach(() => {
  const stacks = environments.map(({ stackId }, index) => [
    stackId,
    { WebhookOriginAddress: addresses[index], ...(index === 0 && { WebhookOriginReserveAddress: reserve }) },
  ]);
  const standby = { DatabaseClusterArn: 'arn:aws:rds:eu-west-1:000000000000:cluster:standby' };
  outputs = writeOutputs(folder(), { AStandby: standby, ...Object.fromEntries(stacks.reverse()) });
});

const origins = (...args: string[]) => wallet('origins', '--outputs', outputs, ...args);

it('prints a plain list of all environments, in the order of the table, the reserve last', async () => {
  const { exitCode, stdout, stderr } = await origins();
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^Use: /) });
  const listed = stdout.split('\n').filter((line) => line && !line.startsWith('#'));
  expect(listed).toEqual([...addresses, reserve].map((each) => `${each}/32`));
});

it('prints one environment, for the given port, or as JSON', async () => {
  const one = ['--environment', first.name];
  const { stdout } = await origins(...one, '--format', 'nftables', '--port', '8443');
  expect(stdout).toContain(
    `      ${address} comment "${first.name} in ${first.region}",\n      ${reserve} comment`,
  );
  expect(stdout).toContain('tcp dport 8443 drop');
  const [printed, ...others] = JSON.parse((await origins(...one, '--json')).stdout);
  expect(printed).toMatchObject({
    environment: first.name,
    addresses: [`${address}/32`],
    reserve: [`${reserve}/32`],
  });
  expect(others).toEqual([]);
});

it('warns that the local list is for trials only', async () => {
  writeOutputs(folder(), { [first.stackId]: { WebhookOriginAddress: '127.0.0.1' } }, {});
  const { exitCode, stderr } = await origins();
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/^warning: \S+ runs on this machine: use the list for tests only/);
});

it.each([
  [{ Other: {} }, /has no outputs of any environment\. It has: Other/],
  [{ [first.stackId]: {} }, /has no output WebhookOriginAddress/],
  [{ [first.stackId]: { WebhookOriginAddress: '10.0.0.1' } }, /"10\.0\.0\.1".*not a public/],
  [
    { [first.stackId]: { WebhookOriginAddress: '3.120.14.7', WebhookOriginReserveAddress: '10.0.0.1' } },
    /WebhookOriginReserveAddress of .* not a public/,
  ],
])('fails, with nothing on stdout, for the outputs %j', async (content, message) => {
  writeOutputs(folder(), content);
  const { exitCode, stdout, stderr } = await origins();
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toMatch(message);
});

it('reports a usage error for --json with a format', async () => {
  expect(await origins('--json', '--format', 'nginx')).toMatchObject({ exitCode: 2, stdout: '' });
});
