import { environments } from '../../../lib/environments';
import { first } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { writeOutputs } from '../../support/wallet-command';
import { wallet } from '../region';

const folder = temporaryFolder();

describe('origins', () => {
  const origins = (stacks: object, ...args: string[]) =>
    wallet('origins', '--outputs', writeOutputs(folder(), stacks), ...args);

  /** One for each row, in the order of the table; the first has a reserve. */
  const addresses = environments.map((_, index) => `3.120.14.${index + 1}`);
  const [address = ''] = addresses;
  const reserve = '3.120.15.1';
  const stacks = Object.fromEntries(
    environments.map(({ stackId }, index) => [stackId, { WebhookOriginAddress: addresses[index] }]).reverse(),
  );
  const deployed = {
    AStandby: { DatabaseClusterArn: 'arn:aws:rds:eu-west-1:000000000000:cluster:standby' },
    ...stacks,
    [first.stackId]: { WebhookOriginAddress: address, WebhookOriginReserveAddress: reserve },
  };

  it('prints a plain list of all environments, in the order of the table, the reserve last', async () => {
    const { stdout } = await origins(deployed);
    const listed = stdout.split('\n').filter((line) => line && !line.startsWith('#'));
    expect(listed).toEqual([...addresses, reserve].map((each) => `${each}/32`));
  });

  it('prints one environment, for the given port, or as JSON', async () => {
    const one = ['--environment', first.name];
    const { stdout } = await origins(deployed, ...one, '--format', 'nftables', '--port', '8443');
    expect(stdout).toContain('tcp dport 8443 drop');
    const printed = JSON.parse((await origins(deployed, ...one, '--json')).stdout);
    expect(printed).toMatchObject([{ addresses: [`${address}/32`], reserve: [`${reserve}/32`] }]);
  });

  it.each(['password=hunter2', '"hunter2"'])(
    'prints nothing of a file that is not an outputs file: %s',
    async (content) => {
      const { exitCode, stdout, stderr } = await wallet(
        'origins',
        '--outputs',
        writeOutputs(folder(), content),
      );
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/outputs\.json is not (JSON|a JSON object)\.\nWith --outputs, name the file/);
      expect(stderr).not.toContain('hunter2');
    },
  );

  const bad = { WebhookOriginAddress: '10.0.0.1' };
  it.each([
    [{ Other: {} }, /has no outputs of any environment\. It has: Other/],
    [{ [first.stackId]: {} }, /has no output WebhookOriginAddress/],
    [{ [first.stackId]: bad }, /"10\.0\.0\.1".*not a public/],
    [
      { [first.stackId]: { WebhookOriginAddress: address, WebhookOriginReserveAddress: '10.0.0.1' } },
      /Reserve.* not a public/,
    ],
  ])('fails, with nothing on stdout, for the outputs %j', async (content, message) => {
    const printed = await origins(content);
    expect(printed).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(message) });
  });
});
