import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** Commands and files, and the Debian packages that have them. */
const packages: Readonly<Record<string, string>> = {
  nginx: 'nginx-light',
  apache2: 'apache2',
  caddy: 'caddy',
  haproxy: 'haproxy',
  nft: 'nftables',
  'iptables-restore': 'iptables',
  ufw: 'ufw',
  aws: 'awscli',
  ip: 'iproute2',
  unshare: 'util-linux',
  bash: 'bash',
  git: 'git',
  python3: 'python3-venv',
  go: 'golang-go',
  // Debian's own Python, which another one on the path does not hide.
  '/usr/lib/python3/dist-packages/flask': 'python3-flask',
  '/usr/lib/python3/dist-packages/fastapi': 'python3-fastapi',
};

/** Fails the whole run when a tool is absent: a skipped test proves nothing. */
export default function requireTools(): void {
  if (process.platform !== 'linux') throw new Error('The tools are tested on Linux only.');
  const missing = Object.keys(packages).filter((command) => !isInstalled(command));
  if (missing.length === 0) return;
  const names = missing.map((command) => packages[command]).join(' ');
  throw new Error(
    `${missing.join(', ')} not found. Install: apt-get install -y --no-install-recommends ${names}`,
  );
}

const isInstalled = (command: string) =>
  isAbsolute(command)
    ? existsSync(command)
    : toolPath.split(':').some((directory) => existsSync(join(directory, command)));

/** Servers and firewalls are installed where only root's path leads. */
export const toolPath = `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`;
