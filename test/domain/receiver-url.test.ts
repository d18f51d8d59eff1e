import { readReceiverUrl, type UrlRefusal } from '../../domain/receiver-url';

const read = (text: string, allowLocal = false) => readReceiverUrl(text, { allowLocal });

it('reads a URL with path and query, and without the fragment', () => {
  const value = { secure: true, hostname: 'hooks.example.com', port: 8443, path: '/in?a=1' };
  expect(read('https://Hooks.Example.com:8443/in?a=1#part')).toEqual({ ok: true, value });
});

it.each([
  'https://example.com',
  'https://example.com:443/',
  'https://example.com:1024/',
  'https://example.com:65535/',
  'https://bücher.example.com/',
  'https://under_score.example.com/',
  'https://127.0.0.1.example.com/',
  `https://example.com/${'a'.repeat(2_028)}`,
  `https://${'abcdefg.'.repeat(31)}ab.de/`,
])('allows %s', (url) => {
  expect(read(url).ok).toBe(true);
});

/** Never dialled. Separated by spaces. */
const hostile: readonly (readonly [name: string, refusal: UrlRefusal, urls: string])[] = [
  ['no URL', 'url_malformed', 'receiver /webhooks https:// https://[::1/ https://[fe80::1%25eth0]/'],
  ['a port beyond 65535', 'url_malformed', 'https://example.com:65536/'],
  ['an address out of range', 'url_malformed', 'https://4294967296/ https://127.0.0.256/ https://example.1/'],
  ['a URL of 2,049 characters', 'url_too_long', `https://example.com/${'a'.repeat(2_029)}`],

  ['plain http', 'scheme_not_https', 'http://example.com/ http://127.0.0.1:9000/ http://169.254.169.254/'],
  ['files and sockets', 'scheme_not_https', 'file:///etc/passwd unix:/var/run/docker.sock'],
  ['other protocols', 'scheme_not_https', 'ftp://example.com/ gopher://example.com/ wss://example.com/'],
  ['no network', 'scheme_not_https', 'javascript:alert(1) data:text/plain,x blob:https://example.com/1'],

  ['a user or password', 'credentials_in_url', 'https://user@example.com/ https://:password@example.com/'],
  [
    'a public name in front of a private address',
    'credentials_in_url',
    'https://example.com@127.0.0.1/ https://example.com%2f@10.0.0.1/',
  ],

  ['loopback', 'address_instead_of_name', 'https://127.0.0.1/ https://127.8.8.8/ https://127.0.0.1./'],
  ['loopback, shortened or as a number', 'address_instead_of_name', 'https://127.1/ https://2130706433/'],
  ['loopback in octal', 'address_instead_of_name', 'https://0177.0.0.1/ https://017700000001/'],
  ['loopback in hexadecimal', 'address_instead_of_name', 'https://0x7f.0x0.0x0.0x1/ https://0x7f000001/'],
  ['loopback in mixed bases', 'address_instead_of_name', 'https://0x7f.1/'],
  ['loopback, encoded', 'address_instead_of_name', 'https://%31%32%37.0.0.1/ https:\\\\127.0.0.1\\'],
  ['loopback in full width', 'address_instead_of_name', 'https://１２７.０.０.１/ https://127。0。0。1/'],
  ['loopback in circled digits', 'address_instead_of_name', 'https://①②⑦.⓪.⓪.①/'],
  ['any address', 'address_instead_of_name', 'https://0.0.0.0/ https://0/'],
  [
    'private addresses',
    'address_instead_of_name',
    'https://10.0.0.1/ https://172.16.0.1/ https://167772161/',
  ],
  ['the metadata service', 'address_instead_of_name', 'https://169.254.169.254/ https://2852039166/'],
  ['the metadata service in octal', 'address_instead_of_name', 'https://0251.0376.0251.0376/'],
  ['the metadata service in hexadecimal', 'address_instead_of_name', 'https://0xa9fea9fe/'],
  ['the container credentials', 'address_instead_of_name', 'https://169.254.170.2/'],
  ['multicast and broadcast', 'address_instead_of_name', 'https://224.0.0.1/ https://255.255.255.255/'],
  ['a public address, which no certificate vouches for', 'address_instead_of_name', 'https://93.184.216.34/'],
  ['IPv6', 'address_instead_of_name', 'https://[::1]/ https://[::]/ https://[2606:2800:220:1::1]/'],
  [
    'IPv6 inside',
    'address_instead_of_name',
    'https://[fe80::1]/ https://[fc00::1]/ https://[fd00:ec2::254]/',
  ],
  ['IPv4 in IPv6', 'address_instead_of_name', 'https://[::ffff:169.254.169.254]/ https://[::ffff:7f00:1]/'],
  ['IPv4 through IPv6', 'address_instead_of_name', 'https://[64:ff9b::10.0.0.1]/ https://[2002:a00:1::]/'],

  ['localhost', 'name_not_public', 'https://LOCALHOST/ https://localhost./ https://%6cocalhost/'],
  ['localhost with a tab in it', 'name_not_public', 'https://local\thost/'],
  ['a name under localhost', 'name_not_public', 'https://example.localhost/'],
  ['a single label, which a search domain would complete', 'name_not_public', 'https://intranet/'],
  ['names of a network', 'name_not_public', 'https://printer.local/ https://router.home.arpa/'],
  ['a name of the VPC', 'name_not_public', 'https://ip-10-0-0-1.eu-central-1.compute.internal/'],
  ['the metadata service by name', 'name_not_public', 'https://metadata.google.internal/'],
  ['a reverse name', 'name_not_public', 'https://1.0.0.127.in-addr.arpa/'],
  ['special names', 'name_not_public', 'https://example.onion/ https://receiver.test/ https://x.alt/'],
  ['reserved names', 'name_not_public', 'https://x.invalid/ https://x.example/'],
  ['an empty label', 'name_not_public', 'https://example..com/ https://example.com./'],
  ['a hyphen at an end of a label', 'name_not_public', 'https://-example.com/ https://example-.com/'],
  ['a label of 64 characters', 'name_not_public', `https://${'a'.repeat(64)}.com/`],
  ['a name of 254 characters', 'name_not_public', `https://${'abcdefg.'.repeat(31)}abc.de/`],

  ['port 0', 'port_not_allowed', 'https://example.com:0/'],
  ['SSH, SMTP and http', 'port_not_allowed', 'https://example.com:22/ https://example.com:80/'],
  ['the last privileged port', 'port_not_allowed', 'https://example.com:1023/'],
];
it.each(hostile)('refuses %s as %s: %s', (_, refusal, urls) => {
  for (const url of urls.split(' ')) expect([url, read(url)]).toEqual([url, { ok: false, error: refusal }]);
});

it.each(['https://exa mple.com/', ''])('refuses %j', (url) => {
  expect(read(url)).toEqual({ ok: false, error: 'url_malformed' });
});

describe('where local receivers are allowed', () => {
  it.each([
    ['http://127.0.0.1:9000/in', 9000],
    ['http://localhost/in', 80],
  ])('allows %s', (url, port) => {
    expect(read(url, true)).toMatchObject({ ok: true, value: { secure: false, port } });
  });

  it.each([
    ['scheme_not_https', 'http://example.com/ http://127.0.0.2:9000/ http://10.0.0.1/ http://[::1]:9000/'],
    ['scheme_not_https', 'http://169.254.169.254/latest/meta-data/'],
    ['address_instead_of_name', 'https://127.0.0.1:9000/'],
    ['name_not_public', 'https://localhost:9000/'],
    ['credentials_in_url', 'http://user:password@127.0.0.1:9000/'],
  ])('still refuses as %s: %s', (error, urls) => {
    for (const url of urls.split(' ')) expect([url, read(url, true)]).toEqual([url, { ok: false, error }]);
  });
});
