import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { formatAllowList } from '../../domain/allow-list';
import { eventually } from '../support/eventually';

/**
 * Five network namespaces: `host` routes between strangers, the origin and the internet on one side and a container on the other,
 * whose port 443 it publishes as Docker does, beside its own port 8443.
 */
const names = ['host', 'origin', 'stranger', 'container', 'internet'] as const;
const prefix = `w${process.pid}`;
const run = (command: string, input = '') =>
  execFileSync('sh', ['-euc', command], { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
const within = (name: (typeof names)[number], command: string, input?: string) =>
  run(`ip netns exec ${prefix}${name} ${command}`, input);
/** Their sides of the links to `host`. */
const links = [
  ['origin', '203.0.113.7', '203.0.113.1', '2001:db8:1::7', '2001:db8:1::1'],
  ['stranger', '198.51.100.9', '198.51.100.1', '2001:db8:2::9', '2001:db8:2::1'],
  ['container', '172.17.0.2', '172.17.0.1', '2001:db8:3::2', '2001:db8:3::1'],
  ['internet', '192.0.2.80', '192.0.2.1', '2001:db8:4::80', '2001:db8:4::1'],
] as const;

/** https://docs.docker.com/engine/network/packet-filtering-firewalls/ */
const docker = `table ip docker {
  chain prerouting {
    type nat hook prerouting priority dstnat;
    fib daddr type local tcp dport 443 dnat to 172.17.0.2:8080
  }
}`;
const tcp = "require('net').createServer((socket) => socket.end('hello'))";
/** As HTTP/3 would. */
const udp = `require('dgram').createSocket('udp6')
  .on('message', function (_, { address, port }) { this.send('hello', port, address); })`;
async function listen(name: (typeof names)[number], port: number, code = `${tcp}.listen(${port}, '::')`) {
  spawn('ip', ['netns', 'exec', `${prefix}${name}`, process.execPath, '-e', code], { stdio: 'ignore' });
  const find = code.startsWith(tcp) ? connect : ask;
  await eventually(async () => find(name, '127.0.0.1', port) === 'open');
}

beforeAll(async () => {
  for (const name of names) run(`ip netns add ${prefix}${name}`);
  for (const name of names) within(name, 'ip link set lo up');
  for (const [name, address, gateway, address6, gateway6] of links) {
    run(`ip link add ${prefix}h type veth peer name ${prefix}p`);
    run(
      `ip link set ${prefix}h name ${name} netns ${prefix}host; ip link set ${prefix}p name eth0 netns ${prefix}${name}`,
    );
    within(
      'host',
      `sh -euc 'ip addr add ${gateway}/24 dev ${name}; ip addr add ${gateway6}/64 dev ${name} nodad; ip link set ${name} up'`,
    );
    within(
      name,
      `sh -euc 'ip addr add ${address}/24 dev eth0; ip addr add ${address6}/64 dev eth0 nodad; ip link set eth0 up; ip route add default via ${gateway}; ip -6 route add default via ${gateway6}'`,
    );
  }
  within('host', 'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1');
  within('host', 'nft -f -', docker);
  await listen('host', 8443);
  await listen('host', 8443, `${udp}.bind(8443)`);
  await listen('container', 8080);
  await listen('internet', 443);
});
afterAll(() => {
  for (const name of names) {
    const pids = spawnSync('ip', ['netns', 'pids', `${prefix}${name}`], { encoding: 'utf8' }).stdout.split(
      '\n',
    );
    for (const pid of pids.filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
    spawnSync('ip', ['netns', 'delete', `${prefix}${name}`]);
  }
});

const connect = (from: (typeof names)[number], host: string, port: number) =>
  within(
    from,
    `node -e "const s = require('net').connect({ host: '${host}', port: ${port}, timeout: 1500 }); s.on('data', () => end('open')).on('timeout', () => end('closed')).on('error', () => end('refused')); function end(w) { console.log(w); process.exit(); }"`,
  ).trim();
const ask = (from: (typeof names)[number], host: string, port: number) =>
  within(
    from,
    `node -e "const s = require('dgram').createSocket('udp4').on('message', () => end('open')); s.send('hi', ${port}, '${host}'); setTimeout(() => end('closed'), 1500); function end(w) { console.log(w); process.exit(); }"`,
  ).trim();
/** As a receiver, a stranger and the host itself find the ports of the host. */
const seen = () => ({
  published: ['origin', 'stranger'].map((from) => connect(from as 'origin', '203.0.113.1', 443)),
  own: ['origin', 'stranger'].map((from) => connect(from as 'origin', '203.0.113.1', 8443)),
  udp: ['origin', 'stranger', 'host'].map((from) => ask(from as 'origin', '203.0.113.1', 8443)),
  own6: ['origin', 'stranger'].map((from) => connect(from as 'origin', '2001:db8:1::1', 8443)),
  itself: [connect('host', '127.0.0.1', 8443), connect('host', '203.0.113.1', 8443)],
  fromContainer: connect('container', '192.0.2.80', 443),
});

const load = (port: number) => {
  const origin = { environment: 'eu', region: 'eu-central-1', address: '203.0.113.7' };
  within('host', 'nft -f -', `${formatAllowList('nftables', [origin], port)}\n`);
};

it("nftables' list closes a container's published port and the host's own to strangers, and nothing else", () => {
  const both = ['open', 'open'];
  const open = { published: both, own: both, own6: both, udp: [...both, 'open'] };
  const inside = { itself: ['open', 'open'], fromContainer: 'open' };
  expect(seen()).toEqual({ ...open, ...inside });
  load(443);
  expect(seen()).toEqual({ ...open, ...inside, published: ['open', 'closed'] });
  // Loaded again, for another port.
  load(8443);
  const closed = { own: ['open', 'closed'], own6: ['closed', 'closed'], udp: ['closed', 'closed', 'open'] };
  expect(seen()).toEqual({ ...open, ...inside, ...closed });
});
