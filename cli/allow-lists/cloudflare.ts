import { type AllowListFormat, json } from './allow-list';

/**
 * Items of an IP list. A list alone blocks nothing; a ready rule would block the whole zone.
 * Source: https://developers.cloudflare.com/waf/tools/lists/custom-lists/
 */
export const cloudflare: AllowListFormat = {
  title: 'Cloudflare IP list (items)',
  use: 'PUT it to /accounts/ACCOUNT/rules/lists/LIST/items, then a custom rule that blocks: your path and not ip.src in $LIST.',
  hasHeader: false,
  render: ({ entries }) =>
    json(
      entries.map(({ cidr, description }) => ({ ip: cidr, comment: `Wallet webhooks from ${description}` })),
    ),
};
