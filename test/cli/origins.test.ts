import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowListFormatNames } from '../../cli/allow-lists/formats';
import { startWallet } from '../support/node-process';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { wallet } from './region';
import { environments, madeUp } from './table-and-one-more';

jest.mock('../../lib/environments', () => jest.requireActual('./table-and-one-more'));

/** One for each row, in the order of the table. */
const addresses = environments.map((_, index) => `3.120.14.${index + 1}`);
const entries = addresses.map((address) => `${address}/32`);
const [firstAddress = '', madeUpAddress = ''] = [addresses[0], addresses.at(-1)];

const folder = temporaryFolder();
let outputs: string;
beforeEach(() => {
  const stacks = environments.map(({ stackId }, index) => [
    stackId,
    { WebhookOriginAddress: addresses[index] },
  ]);
  outputs = writeOutputs(folder(), {
    AStandby: { DatabaseClusterArn: 'arn:aws:rds:eu-west-1:000000000000:cluster:standby' },
    ...Object.fromEntries(stacks.reverse()),
  });
});

/** Gives a stack a reserve in the outputs. */
function reserve(stackId: string, address: unknown = '3.120.15.1'): void {
  const { [stackId]: stack, ...others } = JSON.parse(readFileSync(outputs, 'utf8'));
  writeOutputs(folder(), { ...others, [stackId]: { ...stack, WebhookOriginReserveAddress: address } });
}

const origins = (...args: string[]) => wallet('origins', '--outputs', outputs, ...args);
const rules = (text: string) => text.split('\n').filter((line) => line && !line.startsWith('#'));

describe('origins', () => {
  it('prints a plain list of all environments, in the order of the table', async () => {
    const { exitCode, stdout, stderr } = await origins();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(rules(stdout)).toEqual(entries);
    expect(stdout).toContain('# Environment made-up in ca-central-1, deprecated: test funds only');
  });

  it('prints one environment when asked for it', async () => {
    const { stdout } = await origins('--environment', first.name, '--format', 'nginx');
    const { name, region } = first;
    expect(rules(stdout)).toEqual([`allow ${firstAddress}/32; # ${name} in ${region}`, 'deny all;']);
    expect(stdout).toMatch(/[^\n]\n$/);
  });

  it('says on stderr how to use what has no comments', async () => {
    const { stderr } = await origins('--format', 'aws-waf');
    expect(stderr).toMatch(/^Use: aws wafv2 create-ip-set --cli-input-json/);
  });

  it('takes the name and the port', async () => {
    const { stdout } = await origins('--format', 'nftables', '--port', '8443', '--name', 'hooks');
    expect(stdout).toContain('table inet hooks {');
    expect(stdout).toContain('tcp dport 8443 drop');
  });

  it('prints JSON with --json', async () => {
    const { stdout } = await origins('--json', '--environment', madeUp.name);
    expect(JSON.parse(stdout)).toEqual([
      {
        environment: 'made-up',
        region: 'ca-central-1',
        addresses: [`${madeUpAddress}/32`],
        deprecated: true,
        deprecation: { since: '2026-11-20' },
      },
    ]);
  });

  it('prints the reserve of an environment that has one', async () => {
    reserve(madeUp.stackId);
    const { stdout } = await origins('--environment', madeUp.name, '--format', 'nginx');
    expect(rules(stdout)).toEqual([
      `allow ${madeUpAddress}/32; # made-up in ca-central-1, deprecated: test funds only`,
      'allow 3.120.15.1/32; # made-up, in an announced emergency only',
      'deny all;',
    ]);
  });

  it('warns of an address that is this machine itself', async () => {
    const here = { WebhookOriginAddress: '127.0.0.1' };
    writeOutputs(folder(), { [first.stackId]: here, [madeUp.stackId]: here }, {});
    const { exitCode, stdout, stderr } = await origins();
    expect(exitCode).toBe(0);
    expect(rules(stdout)).toEqual(['127.0.0.1/32']);
    expect(stderr).toBe('warning: 127.0.0.1 is this machine itself: the list is good for trying out only.\n');
  });

  it('warns of an address that is reserved for documentation', async () => {
    writeOutputs(folder(), { [first.stackId]: { WebhookOriginAddress: '203.0.113.7' } });
    expect((await origins()).stderr).toMatch(/^warning: 203\.0\.113\.7 is reserved for documentation/);
  });
});

describe('origins fails, with nothing on stdout, when', () => {
  it.each([
    ['the file has no environment', { Other: {} }, /has no outputs of any environment\. It has: Other/],
    ['a stack has no address', { [first.stackId]: {} }, /has no output WebhookOriginAddress/],
    [
      'the address is private',
      { [first.stackId]: { WebhookOriginAddress: '10.0.0.1' } },
      /"10\.0\.0\.1".*no public/,
    ],
    ['a deployed one is loopback', { [first.stackId]: { WebhookOriginAddress: '127.0.0.1' } }, /no public/],
    ['the address is no text', { [first.stackId]: { WebhookOriginAddress: ['3.120.14.7'] } }, /no public/],
  ])('%s', async (_, content, message) => {
    writeOutputs(folder(), content);
    const { exitCode, stdout, stderr } = await origins();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

it.each(['10.0.0.1', '127.0.0.2', ['3.120.14.7']])(
  'origins fails, with nothing on stdout, when the reserve is %j',
  async (address) => {
    reserve(first.stackId, address);
    const { exitCode, stdout, stderr } = await origins();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/WebhookOriginReserveAddress of .* is .*, which is no public/);
  },
);

describe('origins is used wrongly with', () => {
  it('an unknown format, and lists those there are', async () => {
    const { exitCode, stdout, stderr } = await origins('--format', 'squid');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(allowListFormatNames.join(', '));
  });

  it.each([
    ['a port that is none', ['--port', '0']],
    ['a port too high', ['--port', '65536']],
    ['a port with a rule in it', ['--port', '443 accept']],
    ['a name with blanks', ['--name', 'my hooks']],
    ['a name too long', ['--name', 'a'.repeat(29)]],
    ['a name that breaks out', ['--name', 'x";}']],
    ['two formats', ['--json', '--format', 'nginx']],
    ['a list and a format', ['--check', 'list', '--format', 'nginx']],
    ['a list that is not there', ['--check', '/nonexistent/list']],
  ])('%s', async (_, args) => {
    expect(await origins(...args)).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

describe('origins --check', () => {
  const check = (list: string, ...args: string[]) => {
    const file = join(folder(), 'list');
    writeFileSync(file, list);
    return origins('--check', file, ...args);
  };

  it('answers 0 when the list is the same', async () => {
    const { exitCode, stdout, stderr } = await check(madeUpAddress, '--environment', madeUp.name);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain(`\npresent  ${madeUpAddress}/32  made-up\n`);
  });

  it('answers 1 when an address is missing or stale, and says which', async () => {
    const { exitCode, stdout, stderr } = await check(`allow ${firstAddress};\nallow 5.6.7.8;\ndeny all;`);
    expect(exitCode).toBe(1);
    const lines = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(lines.filter(([outcome]) => outcome === 'missing')).toEqual(
      environments.slice(1).map(({ name }, index) => ['missing', entries[index + 1], name]),
    );
    expect(stdout).toMatch(/^stale {4}5\.6\.7\.8\/32$/m);
    expect(stderr).toContain(`differs: ${environments.length - 1} missing, 1 stale.`);
  });

  it('answers 0 when only the reserve is missing, and says what that means', async () => {
    reserve(madeUp.stackId);
    const without = await check(madeUpAddress, '--environment', madeUp.name);
    expect(without.exitCode).toBe(0);
    expect(without.stdout).toContain('\nmissing  3.120.15.1/32  made-up, reserve\n');
    expect(without.stderr).toBe(
      'warning: the reserve 3.120.15.1/32 of made-up is missing: in an emergency that is announced, no webhook would arrive. Add it.\n',
    );
    const withIt = await check(`${madeUpAddress} 3.120.15.1`, '--environment', madeUp.name);
    expect(withIt).toMatchObject({ exitCode: 0, stderr: '' });
    expect(withIt.stdout).toContain('\npresent  3.120.15.1/32  made-up, reserve\n');
  });

  it('answers 1 when the reserve is there and the address is not', async () => {
    reserve(madeUp.stackId);
    const { exitCode, stdout, stderr } = await check('3.120.15.1', '--environment', madeUp.name);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`\nmissing  ${madeUpAddress}/32  made-up\n`);
    expect(stderr).toContain('differs: 1 missing, 0 stale.');
  });

  it('answers 0 for an entry that covers more, and names it', async () => {
    const { exitCode, stdout } = await check('3.120.0.0/16', '--environment', madeUp.name);
    expect(exitCode).toBe(0);
    const broader = stdout.split('\n').find((line) => line.startsWith('broader'));
    expect(broader?.split(/ {2,}/).slice(1)).toEqual([
      '3.120.0.0/16',
      `covers ${madeUpAddress}/32 (made-up)`,
    ]);
  });

  it('prints one JSON document with --json, whatever the answer', async () => {
    const same = await check(madeUpAddress, '--environment', madeUp.name, '--json');
    expect(JSON.parse(same.stdout)).toMatchObject({ same: true, missing: [], stale: [] });
    const different = await check('', '--environment', madeUp.name, '--json');
    expect(different.exitCode).toBe(1);
    expect(JSON.parse(different.stdout)).toMatchObject({
      same: false,
      missing: [{ environment: 'made-up', cidr: `${madeUpAddress}/32` }],
    });
  });

  it('reads stdin when the file is -', async () => {
    const child = startWallet('origins', '--outputs', outputs, '--check', '-');
    child.process.stdin?.end(addresses.slice(0, -1).join(' '));
    expect((await child.ended()).exitCode).toBe(0);
  });
});
