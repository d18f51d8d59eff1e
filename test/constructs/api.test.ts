import { deprecationHeaders } from '../../lib/api/gateway-responses';
import { apiOf, textOf } from '../support/region-api';
import { first, withEveryOption, withOtherOptions } from '../support/rows';
import { stackOf } from '../support/stacks';

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

  it('creates gateway responses one after the other, as API Gateway requires', () => {
    const responses = plain.all('AWS::ApiGateway::GatewayResponse');
    const unordered = responses.filter(({ DependsOn }) => DependsOn === undefined);
    expect(unordered).toHaveLength([api, dashboard].length);
    // Each after another one.
    const before = responses.flatMap(({ DependsOn = [] }) => DependsOn);
    expect(new Set(before).size).toBe(responses.length - unordered.length);
  });

  it("puts no input of the caller into the gateway's own responses, and forbids to cache them", () => {
    const templates = JSON.stringify(
      api.all('GatewayResponse').map(({ ResponseTemplates }) => ResponseTemplates),
    );
    expect([...new Set(templates.match(/\$\w+(\.\w+)*/g))].sort()).toEqual([
      '$context.authorizer.code',
      '$context.authorizer.detail',
      '$context.extendedRequestId',
    ]);
    for (const { type, headers } of api.gatewayResponses())
      expect([type, headers['cache-control']]).toEqual([type, 'no-store']);
  });

  it('announces a deprecation in all responses and in the outputs, and its last day once it is decided', () => {
    expect(other.json.Outputs).toMatchObject({ Deprecated: { Value: 'true' } });
    const sunset = 'Wed, 30 Jun 2027 00:00:00 GMT';
    const { origins, gatewayResponses } = apiOf(other);
    const ofDashboard = apiOf(other, 'Dashboard').gatewayResponses();
    for (const { headers } of [origins, ...gatewayResponses(), ...ofDashboard])
      expect(headers).toMatchObject({ deprecation: '@1795132800', sunset });
    for (const name of ['DeleteUserGroup', 'CheckDelivery']) {
      const { Variables } = other.named('AWS::Lambda::Function', name).Properties.Environment;
      expect([name, JSON.parse(Variables.RESPONSE_HEADERS)]).toEqual([
        name,
        { Deprecation: '@1795132800', Sunset: sunset },
      ]);
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

it('the firewall protects every stage, and redacts credentials in samples and in its log', () => {
  const { Properties: firewall, logicalId } = plain.only('AWS::WAFv2::WebACL');
  const associations = plain
    .all('AWS::WAFv2::WebACLAssociation')
    .map(({ Properties }) => [
      textOf(Properties.ResourceArn).split('/').at(-1),
      textOf(Properties.WebACLArn),
    ]);
  const stages = plain.all('AWS::ApiGateway::Stage').map((stage) => stage.logicalId);
  expect(associations.sort()).toEqual(stages.sort().map((id) => [`{${id}}`, `{${logicalId}.Arn}`]));
  const secret = ['authorization', 'x-svc-useraction'];
  expect(firewall.DataProtectionConfig.DataProtections).toEqual([
    { Action: 'SUBSTITUTION', Field: { FieldType: 'SINGLE_HEADER', FieldKeys: secret } },
  ]);
  const { RedactedFields } = plain.only('AWS::WAFv2::LoggingConfiguration').Properties;
  expect(RedactedFields).toEqual(secret.map((Name) => ({ SingleHeader: { Name } })));
  // WAF refuses other names.
  const { LogGroupName } = plain.named('AWS::Logs::LogGroup', 'ApiWebAclLog').Properties;
  expect(textOf(LogGroupName)).toMatch(/^aws-waf-logs-/);
});

it('the firewall counts strangers at the own receiver, however its path is written, which knows all published addresses', () => {
  const { Rules } = named.only('AWS::WAFv2::WebACL').Properties;
  expect(Rules[0].Statement.RateBasedStatement.Limit).toBe(row.throttle.requestsPerAddress);
  const { Properties, logicalId } = named.only('AWS::WAFv2::IPSet');
  // `/%63heck` is decoded in time; `/check/..%2F` would be gone once it is normalized.
  const isForCheck = (...types: readonly string[]) => ({
    ByteMatchStatement: {
      FieldToMatch: { UriPath: {} },
      PositionalConstraint: 'CONTAINS',
      SearchString: '/webhook-origins/check/',
      TextTransformations: types.map((Type, Priority) => ({ Type, Priority })),
    },
  });
  const eitherWay = [isForCheck('URL_DECODE', 'NORMALIZE_PATH'), isForCheck('NORMALIZE_PATH', 'URL_DECODE')];
  const isPublished = { IPSetReferenceStatement: { Arn: { 'Fn::GetAtt': [logicalId, 'Arn'] } } };
  expect(Rules[1].Statement.RateBasedStatement.ScopeDownStatement).toEqual({
    AndStatement: {
      Statements: [{ OrStatement: { Statements: eitherWay } }, { NotStatement: { Statement: isPublished } }],
    },
  });
  const published = ['{WebhookOriginElasticIp.PublicIp}', '{WebhookOriginReserveElasticIp.PublicIp}'];
  expect(Properties.Addresses.map(textOf)).toEqual(
    expect.arrayContaining(published.map((address) => `${address}/32`)),
  );
  const { Environment } = named.named('AWS::Lambda::Function', 'CheckDelivery').Properties;
  const [separator, addresses] = Environment.Variables.PUBLISHED_ADDRESSES['Fn::Join'];
  expect([separator, ...addresses.map(textOf)]).toEqual([',', ...published]);
});

describe('custom domain names', () => {
  const { api, dashboard, certificateArn } = row.domainNames;
  const domains = named.all('AWS::ApiGateway::DomainName');
  const ids = [api, dashboard].map(
    (name) => domains.find(({ Properties }) => Properties.DomainName === name)?.logicalId,
  );

  it('map to the stages, are in the outputs, and replace the default endpoints at once', () => {
    const mapped = named
      .all('AWS::ApiGateway::BasePathMapping')
      .map(({ Properties }) => [Properties.DomainName.Ref, Properties.RestApiId.Ref, Properties.BasePath]);
    const apis = named.all('AWS::ApiGateway::RestApi');
    expect(mapped).toEqual(apis.map(({ logicalId }, index) => [ids[index], logicalId, undefined]));
    const { ApiBaseUrl, DashboardUrl } = named.json.Outputs;
    expect([ApiBaseUrl.Value, DashboardUrl.Value]).toEqual([`https://${api}`, `https://${dashboard}`]);
    for (const { logicalId, Properties } of apis)
      expect([logicalId, Properties.DisableExecuteApiEndpoint]).toEqual([logicalId, true]);
    // Only a new deployment disables the endpoint.
    for (const { logicalId } of plain.all('AWS::ApiGateway::Deployment'))
      expect(named.json.Resources).not.toHaveProperty(logicalId);
  });

  it("have the row's certificate, and outputs for whoever adds the records", () => {
    const { ApiDomainTarget, DashboardDomainTarget } = named.json.Outputs;
    const outputs = [ApiDomainTarget, DashboardDomainTarget].map(({ Value }) => Value['Fn::GetAtt']);
    expect(outputs).toEqual(ids.map((id) => [id, 'RegionalDomainName']));
    for (const { logicalId, Properties } of domains)
      expect({ logicalId, ...Properties }).toMatchObject({
        logicalId,
        RegionalCertificateArn: certificateArn,
      });
  });
});

const { Variables } = named.named('AWS::Lambda::Function', 'DashboardServeDashboard').Properties.Environment;

it('the dashboard shows the addresses of its own stack', () => {
  const output = (name: string) => textOf(named.json.Outputs[name].Value);
  expect(JSON.parse(textOf(Variables.FACTS))).toMatchObject({
    environment: named.environment.name,
    apiBaseUrl: output('ApiBaseUrl'),
    address: output('WebhookOriginAddress'),
    reserve: [output('WebhookOriginReserveAddress'), output('WebhookOriginStandbyAddress')],
    availability: 0.999,
  });
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
  expect(Object.fromEntries(page.map(([name, value]) => [name.toLowerCase(), value]))).toMatchObject(
    promised,
  );
  for (const { type, headers } of dashboard.gatewayResponses())
    expect({ type, ...headers }).toMatchObject({ type, ...promised });
});

it("the dashboard's facts fit into a function's environment variables", () => {
  // 4 KB in all: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
  const text = Object.entries(Variables).map(([name, value]) => name + textOf(value));
  expect(text.join('').length).toBeLessThan(3_500);
});

it('the signing keys reach the functions that verify, each for its own purpose', () => {
  const found = plain
    .all('Custom::SigningKeySet')
    .map(({ logicalId, Properties }) => [textOf(Properties.Keys[0].Arn), `{${logicalId}.Jwks}`]);
  const variable = (prefix: string, name: string) =>
    textOf(plain.named('AWS::Lambda::Function', prefix).Properties.Environment.Variables[name]);
  expect(found).toEqual([
    [
      expect.stringMatching(/^\{AccessTokenSigningKey\w+\.Arn\}$/),
      variable('AuthorizeRequest', 'TOKEN_KEYS'),
    ],
    [
      expect.stringMatching(/^\{UserActionSigningKey\w+\.Arn\}$/),
      variable('DeleteUserGroup', 'USER_ACTION_KEYS'),
    ],
  ]);
});

it('the key of the first label signs, and those of all labels verify and stay in KMS', () => {
  const { accessToken } = withOtherOptions.signingKeyLabels;
  const ids = ['AccessTokenSigningKey202702', 'AccessTokenSigningKey202611'];
  const arns = ids.map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] }));
  expect(other.json.Outputs.TokenSigningKeyArn.Value).toEqual(arns[0]);
  expect(other.all('Custom::SigningKeySet')[0]?.Properties.Keys).toEqual(
    accessToken.map((Label, index) => ({ Label, Arn: arns[index] })),
  );
});
