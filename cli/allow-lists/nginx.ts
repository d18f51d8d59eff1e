import { type AllowListFormat, hashed, lines } from './allow-list';

/** Source: https://nginx.org/en/docs/http/ngx_http_access_module.html */
export const nginx: AllowListFormat = {
  title: 'nginx',
  use: '"include" it in the location that receives webhooks. Behind a load balancer, set_real_ip_from comes first.',
  hasHeader: true,
  render: ({ header, entries }) =>
    lines(
      hashed(header),
      entries.map(({ cidr, description }) => `allow ${cidr}; # ${description}`),
      'deny all;',
    ),
};
