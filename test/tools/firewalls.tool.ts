import { join } from 'node:path';
import { type AllowListFormatName, formatAllowList } from '../../cli/allow-lists/formats';
import { all, eu, reserving } from '../cli/allow-lists/origins';
import { type Outcome, run, toolFolder } from './tool';

const folder = toolFolder();

/** Everything runs in a separate network namespace: this machine's rules stay as they are. */
const isolated = (...command: readonly string[]): Promise<Outcome> =>
  run('unshare', [...(process.getuid?.() === 0 ? [] : ['--map-root-user']), '--net', ...command]);

const written = (format: AllowListFormatName, origins = reserving, options = {}) =>
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
    join(folder.path(), 'listener'),
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

describe.each<[string, AllowListFormatName, string[], (rules: string) => Promise<string>]>([
  ['nft', 'nftables', ['nft', '--check', '--file'], async (rules) => `nft -f ${rules}; nft -f ${rules}`],
  [
    'iptables-restore',
    'iptables',
    ['iptables-restore', '--test', '--noflush'],
    async (rules) => {
      const restore = `iptables-restore --noflush ${rules}`;
      const hook = (await run('grep', ['-o', 'iptables -I .*', rules])).output.trim();
      return `${restore}; ${hook}; ${restore}`;
    },
  ],
])('%s', (_, format, check, loadTwice) => {
  it('takes the list of all environments and reserves as it is', async () => {
    expect(await isolated(...check, written(format))).toEqual({ exitCode: 0, output: '' });
  });

  it('would not take a list with an address that is none', async () => {
    const broken = `${formatAllowList(format, [eu]).replace('203.0.113.7', '203.0.113.777')}\n`;
    expect((await isolated(...check, folder.write('rules', broken))).exitCode).not.toBe(0);
  });

  it('admits the address to the port and refuses its neighbour, however often the file is loaded', async () => {
    const rules = written(format, [eu], { port: 8443, name: 'hooks' });
    expect(await attemptsAround(await loadTwice(rules))).toEqual(onlyTheAddress);
  });
});

describe('ufw', () => {
  it('takes each rule of the script as it is', async () => {
    const script = written('ufw', all, { port: 8443 });
    const rehearse = `ufw() { command ufw --dry-run "$@"; }; . ${script}`;
    const { exitCode, output } = await isolated('sh', '-ec', rehearse);
    expect(exitCode).toBe(0);
    const rules = [...output.matchAll(/^-A ufw-user-input (.*) -j ACCEPT$/gm)].map(([, rule]) => rule);
    expect(rules).toEqual(
      all.map(({ address }) => expect.stringMatching(new RegExp(`-p tcp --dport 8443 -s ${address}`))),
    );
  });
});
