import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { gatewayResponses, synthesizeApi } from '../../support/region-api';

const api = synthesizeApi();

describe("the gateway's own responses", () => {
  const context = {
    extendedRequestId: 'JKJaXmPLvHcESHA=',
    'authorizer.code': 'token_expired',
    'authorizer.detail': 'The access token has expired.',
  };
  const responses = gatewayResponses(api, context);

  it('have a default for 4xx and 5xx, and no duplicates', () => {
    const known = Object.values(ResponseType).map(({ responseType }) => responseType);
    expect(known).toEqual(expect.arrayContaining(responses.map(({ type }) => type)));
    const bodies = responses.map(({ body }) => body);
    expect(new Set(bodies).size).toBe(bodies.length);
  });

  it.each(responses)('$type is an uncacheable problem document', ({ status, headers, body }) => {
    const problem = JSON.parse(body);
    expect(problem).toEqual({
      type: `urn:wallet-infrastructure:problem:${problem.code}`,
      title: expect.stringMatching(/./),
      status,
      detail: expect.stringMatching(/./),
      code: expect.stringMatching(/^[a-z_]+$/),
      requestId: 'JKJaXmPLvHcESHA=',
    });
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    });
  });

  it('contain no input of the caller', () => {
    const templates = JSON.stringify(
      api.all('AWS::ApiGateway::GatewayResponse').map(({ ResponseTemplates }) => ResponseTemplates),
    );
    const variables = new Set(templates.match(/\$\w+(\.\w+)*/g));
    expect([...variables].sort()).toEqual([
      '$context.authorizer.code',
      '$context.authorizer.detail',
      '$context.extendedRequestId',
    ]);
    expect(templates).not.toContain('method.request');
  });

  it.each([
    ['UNAUTHORIZED', 401, 'token_missing'],
    ['ACCESS_DENIED', 401, 'token_expired'],
    // Also MISSING_AUTHENTICATION_TOKEN and INVALID_SIGNATURE: a bearer token on an unknown path.
    ['DEFAULT_4XX', 404, 'route_not_found'],
    ['THROTTLED', 429, 'too_many_requests'],
    // Also AUTHORIZER_FAILURE and INTEGRATION_FAILURE.
    ['DEFAULT_5XX', 500, 'internal_error'],
    ['INTEGRATION_TIMEOUT', 504, 'gateway_timeout'],
    ['REQUEST_TOO_LARGE', 413, 'request_too_large'],
    ['WAF_FILTERED', 403, 'request_blocked'],
  ])('%s is %i %s', (type, status, code) => {
    const response = responses.find((each) => each.type === type);
    expect(response?.status).toBe(status);
    expect(JSON.parse(response?.body ?? '')).toMatchObject({ status, code });
  });

  it.each([
    ['www-authenticate', 401, 'Bearer'],
    ['retry-after', 429, '1'],
  ])('have %s only with status %i', (header, status, value) => {
    for (const response of responses) {
      expect(response.headers[header]).toBe(response.status === status ? value : undefined);
    }
  });
});

describe('deprecation', () => {
  const headersOf = (deprecation?: { since: string; sunset?: string }) => {
    const deprecated = synthesizeApi(deprecation && { deprecation });
    const origins = deprecated.routes()['GET /webhook-origins'] as unknown as {
      Integration: { IntegrationResponses: [{ ResponseParameters: Record<string, string> }] };
    };
    const parameters = origins.Integration.IntegrationResponses[0].ResponseParameters;
    return [
      ...gatewayResponses(deprecated, {}).map(({ headers }) => [headers.deprecation, headers.sunset]),
      ['Deprecation', 'Sunset'].map((name) =>
        parameters[`method.response.header.${name}`]?.replaceAll("'", ''),
      ),
    ];
  };

  it.each([
    ['is in every response of a deprecated environment', { since: '2026-11-20' }, ['@1795132800', undefined]],
    [
      'names the last day once it is decided',
      { since: '2026-11-20', sunset: '2027-06-30' },
      ['@1795132800', 'Wed, 30 Jun 2027 00:00:00 GMT'],
    ],
    ['is in no response of other environments', undefined, [undefined, undefined]],
  ])('%s', (_, given, expected) => {
    for (const headers of headersOf(given)) expect(headers).toEqual(expected);
  });
});
