import { join } from 'node:path';
import { type AllowListFormatName, formatAllowList } from '../../lib/operations/allow-lists/formats';
import { all, eu } from '../operations/allow-lists/origins';
import { createFolder, type Folder, type Outcome, run } from './tool';

let folder: Folder;
beforeEach(async () => {
  folder = await createFolder();
});
afterEach(() => folder.remove());

/** Everything runs in a separate network namespace: this machine's rules stay as they are. */
const isolated = (...command: readonly string[]): Promise<Outcome> =>
  run('unshare', [...(process.getuid?.() === 0 ? [] : ['--map-root-user']), '--net', ...command]);

const written = (format: AllowListFormatName, origins = all, options = {}) =>
  folder.write('rules', `${formatAllowList(format, origins, options)}\n`);

const admitted = {
  '203.0.113.7>203.0.113.1:8443': 'connected',
  '203.0.113.8>203.0.113.1:8443': 'connected',
  '203.0.113.8>203.0.113.1:8080': 'connected',
  '127.0.0.1>127.0.0.1:8443': 'connected',
};

/** What reaches a receiver before and after the rules are loaded there. */
async function attemptsAround(load: string) {
  const { exitCode, output } = await isolated(
    'sh',
    join(__dirname, 'network/two-hosts.sh'),
    join(folder.path, 'listener'),
    'sh',
    '-ec',
    load,
  );
  if (exitCode !== 0) throw new Error(output);
  const answers = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  return { before: { ...answers[0], ...answers[1] }, after: { ...answers[2], ...answers[3] } };
}

const onlyTheAddress = {
  before: admitted,
  after: { ...admitted, '203.0.113.8>203.0.113.1:8443': 'no answer' },
};

const broken = () =>
  folder.write('broken', formatAllowList('nftables', [eu]).replace('203.0.113.7', '203.0.113.777'));

describe('nft', () => {
  it('takes the list of all environments as it is', async () => {
    expect(await isolated('nft', '--check', '--file', await written('nftables'))).toEqual({
      exitCode: 0,
      output: '',
    });
  });

  it('would not take a list with an address that is none', async () => {
    expect((await isolated('nft', '--check', '--file', await broken())).exitCode).not.toBe(0);
  });

  it('admits the address to the port and refuses its neighbour, however often the file is loaded', async () => {
    const rules = await written('nftables', [eu], { port: 8443 });
    expect(await attemptsAround(`nft -f ${rules}; nft -f ${rules}`)).toEqual(onlyTheAddress);
  });
});

describe('iptables-restore', () => {
  it('takes the list of all environments as it is', async () => {
    const rules = await written('iptables');
    expect(await isolated('iptables-restore', '--test', '--noflush', rules)).toEqual({
      exitCode: 0,
      output: '',
    });
  });

  it('would not take a list with an address that is none', async () => {
    const text = formatAllowList('iptables', [eu]).replace('203.0.113.7', '203.0.113.777');
    const rules = await folder.write('rules', `${text}\n`);
    expect((await isolated('iptables-restore', '--test', '--noflush', rules)).exitCode).not.toBe(0);
  });

  it('admits the address to the port and refuses its neighbour, however often the file is loaded', async () => {
    const rules = await written('iptables', [eu], { port: 8443, name: 'hooks' });
    const restore = `iptables-restore --noflush ${rules}`;
    const hook = (await run('grep', ['-o', 'iptables -I .*', rules])).output.trim();
    expect(await attemptsAround(`${restore}; ${hook}; ${restore}`)).toEqual(onlyTheAddress);
  });
});

describe('ufw', () => {
  it('takes each rule of the script as it is', async () => {
    const script = await written('ufw', all, { port: 8443 });
    const rehearse = `ufw() { command ufw --dry-run "$@"; }; . ${script}`;
    const { exitCode, output } = await isolated('sh', '-ec', rehearse);
    expect(exitCode).toBe(0);
    const rules = [...output.matchAll(/^-A ufw-user-input (.*) -j ACCEPT$/gm)].map(([, rule]) => rule);
    expect(rules).toEqual(
      all.map(({ address }) => expect.stringMatching(new RegExp(`-p tcp --dport 8443 -s ${address}`))),
    );
  });
});
