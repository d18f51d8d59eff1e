import { CfnEIP } from 'aws-cdk-lib/aws-ec2';
import { allowListFormatNames, formatAllowList } from '../../../cli/allow-lists/formats';
import type { RoutedRequest } from '../../../local/api-gateway/event';
import { mapResponse } from '../../../local/api-gateway/mapping-template';
import { expectDocumented, expectMatches } from '../../support/openapi';
import { synthesizeApi } from '../../support/region-api';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

const path = '/webhook-origins/{format}';
const deprecation = { since: '2026-11-20', sunset: '2027-06-30' };
const current = synthesizeApi();
const reserving = synthesizeApi({ deprecation }, undefined, '203.0.113.8');

const methodOf = (api: typeof current) => api.routes()[`GET ${path}`] as Json;
const templateOf = (api: typeof current) =>
  methodOf(api).Integration.IntegrationResponses[0].ResponseTemplates['application/json'];
const get = (api: typeof current, format: string) =>
  mapResponse(templateOf(api), {
    context: { extendedRequestId: 'JKJaXmPLvHcESHA=' },
    request: { target: { path: '', query: [['format', 'nginx']] }, headers: [['format', 'nginx']] },
    match: { pathParameters: { format } },
  } as unknown as RoutedRequest);

const origin = ({ environment: { name, region } }: typeof current) => ({
  environment: name,
  region,
  address: '203.0.113.7',
});

it.each(allowListFormatNames)('%s is the allow-list that the command line prints', (format) => {
  const served = get(current, format);
  expect(served.body).toBe(`${formatAllowList(format, [origin(current)])}\n`);
  expect(served).toMatchObject({ status: 200, headers: { 'Cache-Control': 'public, max-age=3600' } });
  const kept = { ...origin(reserving), reserve: '203.0.113.8', deprecation };
  expect(get(reserving, format).body).toBe(`${formatAllowList(format, [kept])}\n`);
});

it.each([
  ['application/json', ['json', 'aws-security-group', 'aws-waf', 'terraform', 'cloudflare', 'azure-nsg']],
  [
    'text/plain; charset=utf-8',
    allowListFormatNames.filter((name) => /^(?!json|aws|terra|cloud|azure)/.test(name)),
  ],
])('those of type %s', (type, formats) => {
  for (const format of formats) {
    const { status, headers, body } = get(current, format);
    expect([format, headers['Content-Type']]).toEqual([format, type]);
    expectDocumented({
      method: 'GET',
      path: `/webhook-origins/${format}`,
      status: status ?? 0,
      contentType: type,
      body,
    });
  }
});

it('json has the documented form, with and without a reserve', () => {
  for (const api of [current, reserving]) expectMatches('AllowList', JSON.parse(get(api, 'json').body));
  const [entry] = JSON.parse(get(current, 'json').body);
  for (const wrong of [
    [],
    [{ ...entry, addresses: ['203.0.113.7'] }],
    [{ ...entry, deprecated: undefined }],
    entry,
  ])
    expect(() => expectMatches('AllowList', JSON.parse(JSON.stringify(wrong)))).toThrow('AllowList');
});

it.each(['', 'NGINX', 'yaml', 'constructor', '__proto__', "json'", '$context', '#end', '"}'])(
  'the format %j is a problem that lists the formats, and nothing that the caller wrote',
  (format) => {
    const { status, headers, body } = get(current, format);
    expect(headers).toEqual({ 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' });
    expect(JSON.parse(body)).toMatchObject({
      code: 'format_not_found',
      requestId: 'JKJaXmPLvHcESHA=',
      formats: allowListFormatNames,
    });
    expect(body).toBe(get(current, 'another').body);
    expectDocumented({
      method: 'GET',
      path: '/webhook-origins/x',
      status: status ?? 0,
      contentType: headers['Content-Type'],
      body,
    });
  },
);

it('leaves no sign of the template language in a list, which another version of it might read otherwise', () => {
  const meant = [
    /#set\(\$[\w.-]+ = (?:'\$?[^'$\\]*'|\d+|\$\w+|\$input\.params\('format'\))\)/,
    /#(?:else)?if\(\$format == '[\w-]+'\)|#else|#end/,
    /\$\{(?:hash|dollar|address|reserve)\}|\$context\.extendedRequestId/,
  ];
  const lists = templateOf(reserving).replace(
    new RegExp(meant.map(({ source }) => source).join('|'), 'g'),
    '',
  );
  expect(lists.match(/.*[#$\\].*/g)).toBeNull();
});

it('is public and needs no function', () => {
  expect(methodOf(current)).toMatchObject({ AuthorizationType: 'NONE', Integration: { Type: 'MOCK' } });
});

it('may be read by the page of the dashboard, as its base path', () => {
  for (const route of [path, '/webhook-origins'])
    expect(
      (current.routes()[`GET ${route}`] as Json).Integration.IntegrationResponses[0].ResponseParameters,
    ).toMatchObject({
      'method.response.header.Access-Control-Allow-Origin': "'https://dashboard.example.com'",
    });
});

it('takes the address from the Elastic IP itself, once', () => {
  const parts = templateOf(synthesizeApi({}, (stack) => new CfnEIP(stack, 'ElasticIp').ref))['Fn::Join'][1];
  expect(parts.filter((part: unknown) => typeof part !== 'string')).toEqual([{ Ref: 'ElasticIp' }]);
});

it('is far below the 300 KB that a mapping template may have', () => {
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
  expect(templateOf(reserving).length).toBeLessThan(30_000);
});
