import { type AllowListFormat, hashed, lines } from './allow-list';

/**
 * A separate table, replaced in one transaction each time the file is loaded: declared (so that it can be deleted
 * the first time), deleted, made. Another table may still refuse what this one accepts.
 * Source: https://wiki.nftables.org/wiki-nftables/index.php/Atomic_rule_replacement
 */
export const nftables: AllowListFormat = {
  title: 'nftables',
  use: 'nft -f FILE. It shuts the port, for IPv6 too, to everyone but these addresses and this host itself.',
  hasHeader: true,
  render: ({ header, entries, port, name }) =>
    lines(
      hashed(header),
      `table inet ${name}`,
      `delete table inet ${name}`,
      `table inet ${name} {`,
      '  set origins {',
      '    type ipv4_addr',
      '    elements = {',
      entries.map(({ address, description }) => `      ${address} comment "${description}",`),
      '    }',
      '  }',
      '  chain input {',
      '    type filter hook input priority filter; policy accept;',
      '    iif "lo" accept',
      `    tcp dport ${port} ip saddr @origins accept`,
      `    tcp dport ${port} drop`,
      '  }',
      '}',
    ),
};
