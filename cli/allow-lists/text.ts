import { type AllowListFormat, hashed, lines } from './allow-list';

export const text: AllowListFormat = {
  title: 'plain list',
  use: 'one address a line; lines that start with # are comments.',
  hasHeader: true,
  render: ({ header, entries }) =>
    lines(
      hashed(header),
      entries.map(({ cidr }) => cidr),
    ),
};
