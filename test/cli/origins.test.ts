import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowListFormatNames } from '../../domain/allow-list';
import { environments } from '../../lib/environments';
import { startWallet } from '../support/node-process';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { wallet } from './region';
import { madeUp } from './table-and-one-more';

/** One for each row, in the order of the table. */
const addresses = environments.map((_, index) => `3.120.14.${index + 1}`);
const entries = addresses.map((address) => `${address}/32`);
const madeUpAddress = addresses.at(-1) ?? '';

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

it('prints a plain list of all environments, in the order of the table', async () => {
  const { exitCode, stdout, stderr } = await origins();
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^Use: /) });
  expect(rules(stdout)).toEqual(entries);
});

it('prints one environment with its reserve, for the given port', async () => {
  reserve(madeUp.stackId);
  const { stdout } = await origins('--environment', madeUp.name, '--format', 'nftables', '--port', '8443');
  expect(
    stdout,
  ).toContain(`      ${madeUpAddress} comment "made-up in ca-central-1, deprecated: test funds only",
      3.120.15.1 comment "made-up, in an announced emergency only",
    }`);
  expect(stdout).toContain('tcp dport 8443 drop');
});

it('prints JSON with --json', async () => {
  const { stdout } = await origins('--json', '--environment', first.name);
  expect(JSON.parse(stdout)).toMatchObject([{ environment: first.name, addresses: [entries[0]] }]);
});

it('warns that the local list is for trials only', async () => {
  writeOutputs(folder(), { [first.stackId]: { WebhookOriginAddress: '127.0.0.1' } }, {});
  expect(await origins()).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/^warning: \S+ runs on this machine: use the list for tests only/),
  });
});

it.each([
  [{ Other: {} }, /has no outputs of any environment\. It has: Other/],
  [{ [first.stackId]: {} }, /has no output WebhookOriginAddress/],
  [{ [first.stackId]: { WebhookOriginAddress: '10.0.0.1' } }, /"10\.0\.0\.1".*not a public/],
  [{ [first.stackId]: { WebhookOriginAddress: '127.0.0.1' } }, /not a public/],
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

it.each([
  [['--format', 'squid'], allowListFormatNames.join(', ')],
  [['--port', '0'], 'from 1 to 65535'],
  [['--port', '443 accept'], 'from 1 to 65535'],
  [['--json', '--format', 'nginx'], 'exclude each other'],
  [['--check', 'list', '--format', 'nginx'], 'cannot be used with'],
  [['--check', '/nonexistent/list'], 'Cannot read'],
])('reports a usage error for %j', async (args, message) => {
  const { exitCode, stdout, stderr } = await origins(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(message);
});

describe('--check', () => {
  const check = (list: string, ...args: string[]) => {
    const file = join(folder(), 'list');
    writeFileSync(file, list);
    return origins('--check', file, '--environment', madeUp.name, ...args);
  };
  const others = async (list: string) => JSON.parse((await check(list, '--json')).stdout).others;

  it('finds the address, alone or in a network', async () => {
    const expected = { exitCode: 0, stderr: '' };
    expect(await check(`allow ${madeUpAddress};`)).toEqual({
      ...expected,
      stdout: expect.stringContaining(`\npresent  ${madeUpAddress}/32  made-up\n`),
    });
    expect(await check('ip saddr { 3.120.0.0/16 }')).toMatchObject(expected);
    expect(await others('3.120.0.0/16')).toEqual(['3.120.0.0/16']);
  });

  it('exits with 1 when the address is missing, and lists the others', async () => {
    reserve(madeUp.stackId);
    const { exitCode, stdout, stderr } = await check('3.120.15.1\n5.6.7.8 # and 5.6.7.8\n');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^missing +3\.120\.14\.\d+\/32 +made-up\npresent +3.*reserve\nother +5\.6\.7\.8\/32$/m,
    );
    expect(stderr).toMatch(RegExp(`^error: Missing from .*list: ${madeUpAddress}/32\\.`));
  });

  it('warns about a missing reserve, and exits with 0', async () => {
    reserve(madeUp.stackId);
    expect(await check(madeUpAddress)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^warning: the reserve 3\.120\.15\.1\/32 of made-up is missing/),
    });
  });

  it('recognizes addresses, but not inside a longer number', async () => {
    expect(
      await others('1.2.3.4.5 v1.2.3.4 999.1.1.1 1.2.3.4/33 1.2.3.4/5/6 "1.1.1.1", 2.2.2.2. 3.3.3.3:443'),
    ).toEqual(['1.1.1.1/32', '2.2.2.2/32', '3.3.3.3/32']);
  });

  it('reads every format that it prints', async () => {
    reserve(madeUp.stackId);
    for (const format of allowListFormatNames) {
      const { stdout } = await origins('--environment', madeUp.name, '--format', format);
      expect(await check(stdout)).toMatchObject({ exitCode: 0, stderr: '' });
      expect(await others(stdout)).toEqual([]);
    }
  });

  it('reads stdin when the file is -', async () => {
    const child = startWallet('origins', '--outputs', outputs, '--check', '-');
    child.process.stdin?.end(addresses.join(' '));
    expect((await child.ended()).exitCode).toBe(0);
  });
});
