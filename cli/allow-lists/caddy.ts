import { type AllowListFormat, hashed, lines } from './allow-list';

/**
 * Caddy runs `handle` before `respond`, so the file belongs inside the block that serves.
 * Sources: https://caddyserver.com/docs/caddyfile/matchers#remote-ip,
 * https://caddyserver.com/docs/caddyfile/directives#directive-order
 */
export const caddy: AllowListFormat = {
  title: 'Caddy 2 (Caddyfile)',
  use: '"import" it in the handle or site block that serves the webhooks.',
  hasHeader: true,
  render: ({ header, entries, name }) =>
    lines(
      hashed(header),
      entries.map(({ address, description }) => `# ${address}: ${description}`),
      `@not-${name} not remote_ip ${entries.map(({ cidr }) => cidr).join(' ')}`,
      `respond @not-${name} 403`,
    ),
};
