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

  it('cover every type that there is', () => {
    const known = Object.values(ResponseType).map(({ responseType }) => responseType);
    expect(responses.map(({ type }) => type).sort()).toEqual(known.sort());
  });

  it.each(responses)('$type is a problem that no cache keeps', ({ status, headers, body }) => {
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

  it('take in nothing that a caller writes', () => {
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
    ['MISSING_AUTHENTICATION_TOKEN', 404, 'route_not_found'],
    ['RESOURCE_NOT_FOUND', 404, 'route_not_found'],
    ['THROTTLED', 429, 'too_many_requests'],
    ['QUOTA_EXCEEDED', 429, 'too_many_requests'],
    ['AUTHORIZER_FAILURE', 500, 'internal_error'],
    ['AUTHORIZER_CONFIGURATION_ERROR', 500, 'internal_error'],
    ['INTEGRATION_FAILURE', 500, 'internal_error'],
    ['INTEGRATION_TIMEOUT', 504, 'gateway_timeout'],
    ['REQUEST_TOO_LARGE', 413, 'request_too_large'],
    ['WAF_FILTERED', 403, 'request_blocked'],
  ])('%s is %i %s', (type, status, code) => {
    const response = responses.find((each) => each.type === type);
    expect(response?.status).toBe(status);
    expect(JSON.parse(response?.body ?? '')).toMatchObject({ status, code });
  });

  it('a bearer token on an unknown path, which the gateway takes for an AWS signature, is no route either', () => {
    for (const type of ['INVALID_SIGNATURE', 'EXPIRED_TOKEN', 'DEFAULT_4XX']) {
      expect(responses.find((each) => each.type === type)?.status).toBe(404);
    }
  });

  it('challenge for a bearer token on 401, and on nothing else', () => {
    for (const { status, headers } of responses) {
      expect(headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
    }
  });

  it('say on 429 when to come back', () => {
    for (const { status, headers } of responses) {
      expect(headers['retry-after']).toBe(status === 429 ? '1' : undefined);
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

  it('is in every response of a deprecated environment', () => {
    for (const headers of headersOf({ since: '2026-11-20' })) {
      expect(headers).toEqual(['@1795132800', undefined]);
    }
  });

  it('names the last day once it is decided', () => {
    for (const headers of headersOf({ since: '2026-11-20', sunset: '2027-06-30' })) {
      expect(headers).toEqual(['@1795132800', 'Wed, 30 Jun 2027 00:00:00 GMT']);
    }
  });

  it('is in none of an environment that goes on', () => {
    for (const headers of headersOf()) expect(headers).toEqual([undefined, undefined]);
  });
});
