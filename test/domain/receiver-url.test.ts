import fc from 'fast-check';
import {
  type NewUrlRefusal,
  normalizeReceiverUrl,
  readReceiverUrl,
  type UrlRefusal,
} from '../../domain/receiver-url';

const read = (text: string, allowLocal = false) => readReceiverUrl(text, { allowLocal });

it('reads a URL with path and query, and without the fragment', () => {
  const value = { secure: true, hostname: 'hooks.example.com', port: 8443, path: '/in?a=1' };
  expect(read('https://Hooks.Example.com:8443/in?a=1#part')).toEqual({ ok: true, value });
});

it.each([
  'https://example.com:1024/',
  'https://bücher.example.com/',
  'https://under_score.example.com/',
  `https://example.com/${'a'.repeat(2_028)}`,
  `https://${'abcdefg.'.repeat(31)}ab.de/`,
])('allows %s', (url) => {
  expect(read(url).ok).toBe(true);
});

/** Never dialled. Separated by spaces. */
const hostile: Readonly<Record<UrlRefusal, readonly string[]>> = {
  url_malformed: [
    'receiver /webhooks https:// https://[::1/ https://[fe80::1%25eth0]/ https://example.com:65536/',
    'https://4294967296/ https://127.0.0.256/ https://example.1/',
  ],
  url_too_long: [`https://example.com/${'a'.repeat(2_029)}`],
  scheme_not_https: [
    'http://example.com/ http://127.0.0.1:9000/ http://169.254.169.254/',
    'file:///etc/passwd unix:/var/run/docker.sock ftp://example.com/ data:text/plain,x',
  ],
  credentials_in_url: [
    'https://user@example.com/ https://:password@example.com/',
    'https://example.com@127.0.0.1/ https://example.com%2f@10.0.0.1/',
  ],
  address_instead_of_name: [
    // In other bases and digits, too.
    'https://127.0.0.1/ https://127.8.8.8/ https://127.0.0.1./ https://0.0.0.0/ https://127.1/',
    'https://2130706433/ https://%31%32%37.0.0.1/ https://１２７.０.０.１/ https://127。0。0。1/ https://①②⑦.⓪.⓪.①/',
    'https://10.0.0.1/ https://169.254.169.254/ https://0xa9fea9fe/',
    // Public, which no certificate vouches for.
    'https://93.184.216.34/',
    'https://[::1]/ https://[fe80::1]/ https://[fd00:ec2::254]/ https://[2606:2800:220:1::1]/',
    'https://[::ffff:169.254.169.254]/ https://[64:ff9b::10.0.0.1]/',
  ],
  name_not_public: [
    'https://LOCALHOST/ https://localhost./ https://%6cocalhost/ https://example.localhost/',
    // A search domain would complete them.
    'https://intranet/ https://local\thost/',
    'https://printer.local/ https://router.home.arpa/ https://x.internal/ https://x.alt/',
    'https://x.onion/ https://x.test/ https://x.invalid/ https://x.example/',
  ],
  name_invalid: [
    'https://example..com/ https://-a.com/ https://a-.com/ https://*.example.com/ https://example.com./',
    `https://${'a'.repeat(64)}.com/ https://${'abcdefg.'.repeat(31)}abc.de/`,
  ],
  port_not_allowed: ['https://example.com:0/ https://example.com:1023/'],
};
it.each(Object.entries(hostile))('refuses with %s: %j', (error, urls) => {
  for (const url of urls.join(' ').split(' ')) expect([url, read(url)]).toEqual([url, { ok: false, error }]);
});

it.each<[url: string, expected: object]>([
  ['http://127.0.0.1:9000/in', { value: { secure: false, port: 9000 } }],
  ['http://localhost/in', { value: { secure: false, port: 80 } }],
  ['http://example.com/', { error: 'scheme_not_https' }],
  ['https://127.0.0.1:9000/', { error: 'address_instead_of_name' }],
  ['http://user:password@127.0.0.1:9000/', { error: 'credentials_in_url' }],
])('where local receivers are allowed, reads %s as %j', (url, expected) => {
  expect(read(url, true)).toMatchObject(expected);
});

const withPath = (path: string) => `https://example.com${path}`;
const added = (text: string) => normalizeReceiverUrl(text, { allowLocal: false });

it.each<[NewUrlRefusal, urls: string[]]>([
  ['fragment_in_url', ['https://example.com#!/token', 'https://example.com/?a=1#b', 'https://example.com#']],
  ['slashes_missing', ['https:example.com/x', 'HTTPS:///example.com', 'https:////example.com/']],
  ['character_not_allowed', ['/a\\b', '/?a=\\', '/a\tb', '/\u0000', '/?\u007f', '/\ud83d'].map(withPath)],
  ['character_not_allowed', ['https:\\\\example.com/', 'https://exam\nple.com/', 'ht\ttps://example.com/']],
  ['dot_segment_in_url', ['/.', '/..', '/a/../x', '/a/./', '/%2e%2E/x', '/.%2e?a'].map(withPath)],
  ['percent_sign_in_url', ['/100%', '/?a=%zz', '/%1'].map(withPath)],
  ['credentials_in_url', ['https://@example.com/', 'https://:@example.com/', 'https://user@example.com/#a']],
  ['url_too_long', [withPath(`/${'|'.repeat(700)}`)]],
  ['url_malformed', ['receiver', 'https://[::1/', 'https://exa mple.com/']],
])('a new URL is refused as %s: %j', (error, urls) => {
  for (const url of urls) expect([url, added(url)]).toEqual([url, { ok: false, error }]);
});

it.each([
  [' https://Example.com:443/a b ', 'https://example.com/a%20b'],
  ['https://bücher.example.com', 'https://xn--bcher-kva.example.com/'],
  ['https://example.com/[a]?{b}|^`"<>', 'https://example.com/%5Ba%5D?%7Bb%7D%7C%5E%60%22%3C%3E'],
  ['https://example.com/é/😀?ü=%20', 'https://example.com/%C3%A9/%F0%9F%98%80?%C3%BC=%20'],
  ["https://example.com/.well-known/...//a.b/%2F;x=1,2!$&'()*+@:?a=./../b", undefined],
])('a new URL %s is stored as it is requested: %s', (url, stored = url.trim()) => {
  expect(added(url)).toMatchObject({ ok: true });
  const { value } = added(url) as { value: string };
  expect(value.replaceAll('%27', "'")).toBe(stored);
  expect(added(value)).toEqual({ ok: true, value });
  expect(read(value)).toMatchObject({ value: { path: value.replace(/^https:..[^/]+/, '') } });
});

it.each([
  ['https://example.com/#!/token', '/'],
  ['https://example.com/[a]|b?{a}', '/[a]|b?{a}'],
  ['https:example.com/a/../x\\y', '/x/y'],
])('a stored URL %s goes on being requested as %s', (url, path) => {
  expect(read(url)).toMatchObject({ ok: true, value: { hostname: 'example.com', path } });
});

/** https://www.rfc-editor.org/rfc/rfc3986#appendix-A, of a name. */
const rfc3986 =
  /^https:\/\/[a-z0-9._-]+(:\d+)?(\/([\w.~!$&'()*+,;=:@-]|%[0-9A-F]{2})*)+(\?([\w.~!$&'()*+,;=:@/?-]|%[0-9A-F]{2})*)?$/i;
const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 2 }),
  fc.constantFrom(...'/.?#%|[]{}^`\\ "\'<>é', '%2e', '..', '\t'),
);

it('a new URL that is accepted is one of RFC 3986, and requested as it is stored', () => {
  let accepted = 0;
  const property = fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
    const stored = added(withPath(`/${pieces.join('')}`));
    if (!stored.ok) return;
    accepted += 1;
    expect(stored.value).toMatch(rfc3986);
    expect(read(stored.value)).toMatchObject({ value: { path: stored.value.slice(withPath('').length) } });
  });
  fc.assert(property, { numRuns: 500 });
  expect(accepted).toBeGreaterThan(50);
});
