import { type AllowListFormat, hashed, lines } from './allow-list';

/** A shell script: ufw loads no files of rules. It skips a rule that is there already. Source: `man ufw`. */
export const ufw: AllowListFormat = {
  title: 'ufw (shell script)',
  use: 'sh FILE, as root. The default has to be "ufw default deny incoming", with no rule that opens the port to all.',
  hasHeader: true,
  render: ({ header, entries, port }) =>
    lines(
      '#!/bin/sh',
      hashed(header),
      'set -e',
      entries.map(
        ({ cidr, description }) =>
          `ufw allow proto tcp from ${cidr} to any port ${port} comment '${description}'`,
      ),
    ),
};
