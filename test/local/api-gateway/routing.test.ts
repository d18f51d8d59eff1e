import fc from 'fast-check';
import type { MethodModel, RestApiModel } from '../../../local/api-gateway/model';
import { valuesOf } from '../../../local/api-gateway/request';
import { findMethod } from '../../../local/api-gateway/routing';
import { parseTarget } from '../../../local/api-gateway/target';

const method: MethodModel = { integration: { type: 'AWS_PROXY', functionArn: 'arn', timeoutMs: 1 } };

function api(...paths: string[]): RestApiModel {
  return {
    apiId: 'api',
    stageName: 'prod',
    stageVariables: null,
    gatewayResponses: {},
    routes: paths.map((resourcePath) => ({
      resourceId: resourcePath,
      resourcePath,
      methods: { GET: method },
    })),
  };
}

const found = (model: RestApiModel, path: string) => findMethod(model, 'GET', path)?.route.resourcePath;

test.each([
  ['/', '/'],
  ['/groups', '/groups'],
  ['/groups/', '/groups'],
  ['/groups/a', '/groups/{id}'],
  ['/groups/a/', '/groups/{id}'],
  ['/groups/all', '/groups/all'],
  ['/groups/a%2Fb', '/groups/{id}'],
  ['/groups//', '/groups'],
  ['/Groups', undefined],
  ['/groups/a/b', undefined],
  ['/groups//b', undefined],
  ['/other', undefined],
])('%s is routed to %s', (path, expected) => {
  expect(found(api('/', '/groups', '/groups/{id}', '/groups/all'), path)).toBe(expected);
});

test('the most specific resource wins before its methods are looked at', () => {
  const { routes, ...model } = api('/groups/{id}');
  const all = { resourceId: 'all', resourcePath: '/groups/all', methods: { POST: method } };
  const post = { ...model, routes: [...routes, all] };
  expect(findMethod(post, 'GET', '/groups/all')).toBeUndefined();
  expect(findMethod(post, 'POST', '/groups/all')?.route.resourcePath).toBe('/groups/all');
});

test('any parameter is decoded from one segment', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      // A dot segment or a slash inside stays what it is: nothing normalizes the path.
      const target = parseTarget(`/groups/${encodeURIComponent(id)}`);
      expect(findMethod(api('/groups/{id}'), 'GET', target?.path ?? '')?.pathParameters).toEqual({ id });
    }),
  );
});

const segment = fc.constantFrom('a', 'b', '{p}', '%2F', '.', '..', '');
test('no path is routed to a resource with another number of segments, and none makes it throw', () => {
  fc.assert(
    fc.property(
      fc.array(segment),
      fc.array(fc.array(fc.constantFrom('a', 'b', '{p}'), { minLength: 1 })),
      (path, routes) => {
        const raw = `/${path.join('/')}`;
        const match = found(api(...new Set(routes.map((route) => `/${route.join('/')}`))), raw);
        const wanted = raw.replace(/\/+$/, '').split('/');
        if (match) {
          const pattern = match.split('/');
          expect(pattern).toHaveLength(wanted.length);
          pattern.forEach((part, index) => {
            if (part === '{p}') expect(wanted[index]).not.toBe('');
            else expect(wanted[index]).toBe(part);
          });
        }
      },
    ),
  );
});

test('a literal is preferred to a parameter, from the first segment on', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(['/a/{p}', '/{p}/b', '/{p}/{p}'], { minLength: 1 }), (routes) => {
      const order = ['/a/{p}', '/{p}/b', '/{p}/{p}'];
      expect(found(api(...routes), '/a/b')).toBe(order.find((each) => routes.includes(each)));
    }),
  );
});

test.each([
  ['/a?x=1&y=%20+&x=2', '/a', ['x=1', 'y=  ', 'x=2']],
  ['//a//b', '/a//b', []],
  ['http://host:80/a?b', '/a', ['b=']],
  ['HTTP://host', '/', []],
  ['/a?', '/a', []],
  ['/a?x=1;y=2', '/a', ['x=1', 'y=2']],
  ['/a?x=a=b', '/a', ['x=a=b']],
  ['*', '*', []],
  ['/%ff', '/%ff', []],
])('the target %s is read', (url, path, query) => {
  const read = parseTarget(url);
  expect({ path: read?.path, query: read?.query.map((pair) => pair.join('=')) }).toEqual({ path, query });
});

test.each(['/%', '/%2', '/%zz', '/a?%g0', 'https://host/', 'ftp://host/', 'http://', 'http://me@host/'])(
  'the target %s is malformed',
  (url) => {
    expect(parseTarget(url)).toBeUndefined();
  },
);

test.each([
  ['http://host:80/', 'HOST:80', true],
  ['http://host/', 'host:80', false],
  ['http://other/', 'host', false],
])('the target %s fits the host %s: %s', (url, host, fits) => {
  expect(parseTarget(url, host) !== undefined).toBe(fits);
});

test.each([
  ['slashes between names', (size: number) => `/a${'/'.repeat(size)}a`],
  ['values of one name', (size: number) => `/a?${'b&'.repeat(size / 2)}`],
])('four times as many %s take less than nine times as long', (_, url) => {
  const model = api('/', '/groups/{id}');
  const fastest = (size: number) => {
    const times = Array.from({ length: 7 }, () => {
      const begun = performance.now();
      const { path = '', query = [] } = parseTarget(url(size)) ?? {};
      findMethod(model, 'GET', path);
      valuesOf(query);
      return performance.now() - begun;
    });
    return Math.min(...times);
  };
  expect(fastest(80_000) / fastest(20_000)).toBeLessThan(9);
});
