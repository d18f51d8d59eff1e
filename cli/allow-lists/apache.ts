import { type AllowListFormat, hashed, lines } from './allow-list';

/** Source: https://httpd.apache.org/docs/2.4/mod/mod_authz_host.html. Comments need lines of their own. */
export const apache: AllowListFormat = {
  title: 'Apache HTTP Server 2.4',
  use: '"Include" it in the <Location> that receives webhooks. Behind a load balancer, mod_remoteip comes first.',
  hasHeader: true,
  render: ({ header, entries }) =>
    lines(
      hashed(header),
      '<RequireAny>',
      entries.flatMap(({ cidr, description }) => [`  # ${description}`, `  Require ip ${cidr}`]),
      '</RequireAny>',
    ),
};
