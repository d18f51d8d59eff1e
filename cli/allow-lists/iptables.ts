import { type AllowListFormat, hashed, lines } from './allow-list';

/**
 * A separate chain, replaced each time the file is loaded. It changes nothing until INPUT jumps to it, which a
 * file that is loaded twice must not do itself. `--noflush` leaves all other rules as they are.
 * Source: https://manpages.debian.org/bookworm/iptables/iptables-restore.8.en.html
 */
export const iptables: AllowListFormat = {
  title: 'iptables (iptables-restore)',
  use: 'iptables-restore --noflush FILE, and once the command below. IPv4 only: shut the port for IPv6 with ip6tables.',
  hasHeader: true,
  render: ({ header, entries, port, name }) =>
    lines(
      hashed(header),
      `# iptables -I INPUT -p tcp --dport ${port} -j ${name}`,
      '*filter',
      `:${name} - [0:0]`,
      `-A ${name} -i lo -j RETURN`,
      entries.map(
        ({ cidr, description }) =>
          `-A ${name} -s ${cidr} -p tcp -m tcp --dport ${port} -m comment --comment "${description}" -j ACCEPT`,
      ),
      `-A ${name} -p tcp -m tcp --dport ${port} -j DROP`,
      'COMMIT',
    ),
};
