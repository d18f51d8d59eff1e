import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { formatAllowList } from '../../domain/allow-list';
import { eventually } from '../support/eventually';

/**
 * Five network namespaces: `host` routes between strangers, the origin and the internet on one side and a container on the other,
 * whose port 443 it publishes as Docker does, beside its own port 8443. The others' links to it have these addresses.
 */
const links = {
  origin: ['203.0.113.7', '203.0.113.1', '2001:db8:1::7', '2001:db8:1::1'],
  stranger: ['198.51.100.9', '198.51.100.1', '2001:db8:2::9', '2001:db8:2::1'],
  container: ['172.17.0.2', '172.17.0.1', '2001:db8:3::2', '2001:db8:3::1'],
  internet: ['192.0.2.80', '192.0.2.1', '2001:db8:4::80', '2001:db8:4::1'],
} as const;
type Name = keyof typeof links | 'host';
const names = ['host', ...Object.keys(links)] as Name[];
const space = (name: Name) => `w${process.pid}${name}`;
const within = (name: Name, command: string, input = '') =>
  execFileSync('ip', ['netns', 'exec', space(name), 'sh', '-euc', command], { input, encoding: 'utf8' });

/** https://docs.docker.com/engine/network/packet-filtering-firewalls/ */
const docker = `table ip docker {
  chain prerouting {
    type nat hook prerouting priority dstnat;
    fib daddr type local tcp dport 443 dnat to 172.17.0.2:8080
  }
}`;

/** Answers over TCP, and over UDP as HTTP/3 would. */
async function listen(name: Name, port: number): Promise<void> {
  const code = `
    require('net').createServer((socket) => socket.end('hello')).listen(${port}, '::');
    const udp = require('dgram').createSocket('udp6').bind(${port});
    udp.on('message', (_, { address, port }) => udp.send('hello', port, address));`;
  spawn('ip', ['netns', 'exec', space(name), process.execPath, '-e', code], { stdio: 'ignore' });
  await eventually(() => find(name, '127.0.0.1', port) && find(name, '127.0.0.1', port, 'udp'));
}

/** Whether the host answers at a port. */
function find(from: Name, host: string, port: number, protocol = 'tcp'): boolean {
  const ask = protocol === 'udp' ? 'echo hi >&3;' : '';
  const code = `exec 3<>/dev/${protocol}/${host}/${port}; ${ask} head -c 5 <&3`;
  const args = ['netns', 'exec', space(from), 'timeout', '3', 'bash', '-c', code];
  return spawnSync('ip', args, { encoding: 'utf8' }).stdout === 'hello';
}

beforeAll(async () => {
  for (const name of names) execFileSync('ip', ['netns', 'add', space(name)]);
  for (const name of names) within(name, 'ip link set lo up');
  for (const [name, [address, gateway, address6, gateway6]] of Object.entries(links)) {
    const peer = space(name as Name);
    within(
      'host',
      `ip link add ${name} type veth peer name eth0 netns ${peer}
      ip addr add ${gateway}/24 dev ${name}; ip addr add ${gateway6}/64 dev ${name} nodad; ip link set ${name} up`,
    );
    within(
      name as Name,
      `ip addr add ${address}/24 dev eth0; ip addr add ${address6}/64 dev eth0 nodad; ip link set eth0 up
      ip route add default via ${gateway}; ip -6 route add default via ${gateway6}`,
    );
  }
  within('host', 'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1');
  within('host', 'nft -f -', docker);
  await listen('host', 8443);
  await listen('container', 8080);
  await listen('internet', 443);
});
afterAll(() => {
  for (const name of names) {
    const { stdout } = spawnSync('ip', ['netns', 'pids', space(name)], { encoding: 'utf8' });
    for (const pid of stdout.split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
    spawnSync('ip', ['netns', 'delete', space(name)]);
  }
});

/** As a receiver, a stranger and the host itself find the ports of the host. */
function seen() {
  const senders = ['origin', 'stranger'] as const;
  return {
    published: senders.map((from) => find(from, '203.0.113.1', 443)),
    own: senders.map((from) => find(from, '203.0.113.1', 8443)),
    // The host answers from the address of the link.
    udp: [...senders, 'host' as const].map((from) =>
      find(from, from === 'stranger' ? '198.51.100.1' : '203.0.113.1', 8443, 'udp'),
    ),
    own6: senders.map((from) => find(from, '2001:db8:1::1', 8443)),
    itself: [find('host', '127.0.0.1', 8443), find('host', '203.0.113.1', 8443)],
    fromContainer: find('container', '192.0.2.80', 443),
  };
}

function load(port: number): void {
  const origin = { environment: 'eu', region: 'eu-central-1', address: '203.0.113.7' };
  within('host', 'nft -f -', `${formatAllowList('nftables', [origin], port)}\n`);
}

it("nftables' list closes a container's published port and the host's own to strangers, and nothing else", () => {
  const both = [true, true];
  const open = { published: both, own: both, own6: both, udp: [...both, true] };
  const inside = { itself: both, fromContainer: true };
  expect(seen()).toEqual({ ...open, ...inside });
  load(443);
  expect(seen()).toEqual({ ...open, ...inside, published: [true, false] });
  // Loaded again, for another port.
  load(8443);
  const closed = { own: [true, false], own6: [false, false], udp: [false, false, true] };
  expect(seen()).toEqual({ ...open, ...inside, ...closed });
});
