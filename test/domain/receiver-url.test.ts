import { readReceiverUrl } from '../../domain/receiver-url';

const read = (text: string, allowLocal = false) => readReceiverUrl(text, { allowLocal });

it('reads a URL with path and query, and without the fragment', () => {
  expect(read('https://Hooks.Example.com:8443/in?a=1#part')).toEqual({
    ok: true,
    value: {
      secure: true,
      hostname: 'hooks.example.com',
      port: 8443,
      path: '/in?a=1',
      local: false,
    },
  });
});

it.each([
  'https://example.com',
  'https://example.com:443/',
  'https://example.com:1024/',
  'https://example.com:65535/',
  'https://a.b.c.example.co.uk/x',
  'https://xn--bcher-kva.example.com/',
  'https://bücher.example.com/',
  'https://under_score.example.com/',
  'https://1.example.com/',
  'https://127.0.0.1.example.com/',
  `https://example.com/${'a'.repeat(2_028)}`,
  `https://${'abcdefg.'.repeat(31)}ab.de/`,
])('allows %s', (url) => {
  expect(read(url).ok).toBe(true);
});

describe('where local receivers are allowed', () => {
  it.each([
    ['http://127.0.0.1:9000/in', 9000],
    ['http://localhost:9000/in', 9000],
    ['http://127.0.0.1/in', 80],
    ['http://2130706433:9000/in', 9000],
  ])('allows %s', (url, port) => {
    const result = read(url, true);
    expect(result.ok && [result.value.local, result.value.secure, result.value.port]).toEqual([
      true,
      false,
      port,
    ]);
  });

  it.each([
    ['another machine over http', 'http://example.com/', 'scheme_not_https'],
    ['another loopback address', 'http://127.0.0.2:9000/', 'scheme_not_https'],
    ['a private address over http', 'http://10.0.0.1/', 'scheme_not_https'],
    ['the metadata service', 'http://169.254.169.254/latest/meta-data/', 'scheme_not_https'],
    ['IPv6 loopback', 'http://[::1]:9000/', 'scheme_not_https'],
    ['loopback over https', 'https://127.0.0.1:9000/', 'address_instead_of_name'],
    ['localhost over https', 'https://localhost:9000/', 'name_not_public'],
    ['credentials', 'http://user:password@127.0.0.1:9000/', 'credentials_in_url'],
  ])('still refuses %s', (_name, url, reason) => {
    expect(read(url, true)).toEqual({ ok: false, error: reason });
  });
});
