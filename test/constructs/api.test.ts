import { deprecationHeaders } from '../../lib/api/gateway-responses';
import { apiOf, textOf } from '../support/region-api';
import { first, withEveryOption, withOtherOptions } from '../support/rows';
import { type Json, stackOf } from '../support/stacks';

const row = withEveryOption(first);
const [plain, named, other] = [stackOf(first), stackOf(row), stackOf(withOtherOptions)];
const api = apiOf(plain);
const dashboard = apiOf(plain, 'Dashboard');

describe('the API', () => {
  it('measures deletions only, and throttles its own receiver further', () => {
    const settings = [api, dashboard].flatMap(({ all }) => all('Stage')[0].MethodSettings);
    expect(settings.filter(({ HttpMethod }) => HttpMethod !== '*')).toMatchObject([
      { HttpMethod: 'DELETE', ResourcePath: '/~1auth~1user-groups~1{userGroupId}', MetricsEnabled: true },
      {
        ResourcePath: '/~1webhook-origins~1check~1{webhookId}',
        ThrottlingRateLimit: first.throttle.requestsPerSecond / 4,
        ThrottlingBurstLimit: first.throttle.burst / 4,
      },
    ]);
    expect(settings.filter(({ MetricsEnabled }) => MetricsEnabled)).toHaveLength(1);
    // The console may invoke no function.
    expect(plain.text).not.toContain('test-invoke-stage');
  });

  it.each([api, dashboard])('$logicalId logs no text of the caller', ({ all }) => {
    const fields: Record<string, string> = JSON.parse(all('Stage')[0].AccessLogSetting.Format);
    // The runbook searches for them.
    expect(Object.keys(fields).join(' ')).toBe(
      'time requestId xAmznRequestId ip method resourcePath status errorType latency integrationStatus integrationLatency authorizerStatus authorizerLatency authorizerError wafResponseCode tlsVersion',
    );
    const variables = Object.values(fields);
    for (const variable of variables) expect(variable).toMatch(/^\$context(\.\w+)+$/);
    for (const written of ['path', 'identity.userAgent', 'authorizer.principalId', 'requestOverride'])
      expect(variables).not.toContain(`$context.${written}`);
  });

  it("puts no input of the caller into the gateway's own responses, and forbids to cache them", () => {
    const templates = JSON.stringify(api.all('GatewayResponse').map((each) => each.ResponseTemplates));
    expect([...new Set(templates.match(/\$\w+(\.\w+)*/g))].sort()).toEqual([
      '$context.authorizer.code',
      '$context.authorizer.detail',
      '$context.extendedRequestId',
    ]);
    for (const { type, headers } of api.gatewayResponses())
      expect([type, headers['cache-control']]).toEqual([type, 'no-store']);
  });

  it('announces a deprecation in all responses, and its last day once it is decided', () => {
    const announced = { deprecation: '@1795132800', sunset: 'Wed, 30 Jun 2027 00:00:00 GMT' };
    const { origins, gatewayResponses } = apiOf(other);
    const ofDashboard = apiOf(other, 'Dashboard').gatewayResponses();
    for (const { headers } of [origins, ...gatewayResponses(), ...ofDashboard])
      expect(headers).toMatchObject(announced);
    for (const name of ['DeleteUserGroup', 'CheckDelivery']) {
      const { Variables } = other.named('AWS::Lambda::Function', name).Properties.Environment;
      const { Deprecation: deprecation, Sunset: sunset } = JSON.parse(Variables.RESPONSE_HEADERS);
      expect([name, { deprecation, sunset }]).toEqual([name, announced]);
    }
    expect(deprecationHeaders({ since: '2026-11-20' })).toEqual({ Deprecation: '@1795132800' });
  });

  it('lists the webhook origins with an ETag of the addresses and of all else that it says', () => {
    const [ofPlain, ofNamed, ofOther] = [plain, named, other].map((stack) => apiOf(stack).origins);
    const elasticIp = '{WebhookOriginElasticIp.PublicIp}';
    const reserve = '{WebhookOriginReserveElasticIp.PublicIp}';
    expect(JSON.parse(ofNamed.body)).toMatchObject({
      addresses: [`${elasticIp}/32`],
      reserve: [`${reserve}/32`, '203.0.113.9/32'],
    });
    expect([ofPlain, ofNamed, ofOther].map(({ headers }) => headers.etag)).toEqual([
      expect.stringMatching(`^"${elasticIp}-[0-9a-f]{8}"$`),
      expect.stringMatching(`^"${elasticIp}-${reserve}-203.0.113.9-[0-9a-f]{8}"$`),
      expect.stringMatching('^"203.0.113.1-203.0.113.2-[0-9a-f]{8}"$'),
    ]);
    // Clients see a deprecation within an hour.
    expect(ofPlain.headers['cache-control']).toBe('public, max-age=3600');
    expect(ofOther.headers.etag.slice(-9)).not.toBe(ofPlain.headers.etag.slice(-9));
  });
});

it('the firewall counts at the own receiver however its path is written', () => {
  const { Rules } = named.only('AWS::WAFv2::WebACL').Properties;
  const [{ OrStatement }] = Rules[1].Statement.RateBasedStatement.ScopeDownStatement.AndStatement.Statements;
  // `/%63heck` is decoded in time; `/check/..%2F` would be gone once it is normalized.
  const transformations = OrStatement.Statements.map(({ ByteMatchStatement }: Json) =>
    ByteMatchStatement.TextTransformations.map(({ Priority, Type }: Json) => `${Priority} ${Type}`),
  );
  expect(transformations).toEqual([
    ['0 URL_DECODE', '1 NORMALIZE_PATH'],
    ['0 NORMALIZE_PATH', '1 URL_DECODE'],
  ]);
});

it('custom domain names have the certificate of the row, and replace the default endpoints at once', () => {
  const { certificateArn: RegionalCertificateArn, ...names } = row.domainNames;
  for (const [id, DomainName] of Object.entries({ Api: names.api, Dashboard: names.dashboard })) {
    const { Properties } = named.named('AWS::ApiGateway::DomainName', `DomainNames${id}`);
    expect(Properties).toMatchObject({ DomainName, RegionalCertificateArn });
    expect(named.named('AWS::ApiGateway::RestApi', id).Properties.DisableExecuteApiEndpoint).toBe(true);
  }
  // Only a new deployment disables the endpoint.
  for (const { logicalId } of plain.all('AWS::ApiGateway::Deployment'))
    expect(named.json.Resources).not.toHaveProperty(logicalId);
});

const { Variables } = named.named('AWS::Lambda::Function', 'DashboardServeDashboard').Properties.Environment;

it('the dashboard shows the addresses of its own stack, in facts that fit into the variables of a function', () => {
  const output = (name: string) => textOf(named.json.Outputs[name].Value);
  expect(JSON.parse(textOf(Variables.FACTS))).toMatchObject({
    environment: named.environment.name,
    apiBaseUrl: output('ApiBaseUrl'),
    address: output('WebhookOriginAddress'),
    reserve: [output('WebhookOriginReserveAddress'), output('WebhookOriginStandbyAddress')],
    availability: 0.999,
  });
  // 4 KB in all: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
  const text = Object.entries(Variables).map(([name, value]) => name + textOf(value));
  expect(text.join('').length).toBeLessThan(3_500);
});

it('the dashboard sends its security headers with the page and with refusals', () => {
  const promised = {
    'strict-transport-security': 'max-age=63072000',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
  const page = Object.entries(JSON.parse(Variables.RESPONSE_HEADERS));
  const sent = Object.fromEntries(page.map(([name, value]) => [name.toLowerCase(), value]));
  expect(sent).toMatchObject(promised);
  for (const { type, headers } of dashboard.gatewayResponses())
    expect({ type, ...headers }).toMatchObject({ type, ...promised });
});
