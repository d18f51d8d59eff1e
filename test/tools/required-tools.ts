import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

/** Commands, and the Debian packages that have them. */
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
  zsh: 'zsh',
  fish: 'fish',
};

/** Fails the whole run when a tool is absent: a skipped test proves nothing. */
export default async function requireTools(): Promise<void> {
  if (process.platform !== 'linux') throw new Error('The tools are tested on Linux only.');
  const present = await Promise.all(Object.keys(packages).map(isInstalled));
  const missing = Object.keys(packages).filter((_, index) => !present[index]);
  if (missing.length === 0) return;
  const names = missing.map((command) => packages[command]).join(' ');
  throw new Error(
    `${missing.join(', ')} not found. Install: apt-get install -y --no-install-recommends ${names}`,
  );
}

async function isInstalled(command: string): Promise<boolean> {
  const found = await Promise.all(
    toolPath.split(':').map((directory) =>
      access(join(directory, command), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

/** Servers and firewalls are installed where only root's path leads. */
export const toolPath = `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`;
