import { type AllowListFormat, hashed, lines } from './allow-list';

/**
 * A file of patterns: one a line; only whole lines are comments.
 * Source: https://docs.haproxy.org/2.6/configuration.html#7.1 (flag -f)
 */
export const haproxy: AllowListFormat = {
  title: 'HAProxy (file of an ACL)',
  use: 'http-request deny unless { src -f FILE }, in the frontend that receives webhooks.',
  hasHeader: true,
  render: ({ header, entries }) =>
    lines(
      hashed(header),
      entries.flatMap(({ cidr, description }) => [`# ${description}`, cidr]),
    ),
};
