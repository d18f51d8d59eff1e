import { deprecationHeaders } from '../../lib/api/gateway-responses';
import { apiOf, textOf } from '../support/region-api';
import { first, withReserve } from '../support/rows';
import { type StackTemplate, stackOf } from '../support/stacks';

const hostedZone = { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' };
const names = { api: 'api.example.com', dashboard: 'dashboard.example.com' };
const certificateArn = `arn:aws:acm:${first.region}:123456789012:certificate/1a2b-3c`;
const { domainNames: _, deprecation: __, ...row } = first;
const plain = stackOf(row);
const deprecated = stackOf({ ...row, deprecation: { since: '2026-11-20', sunset: '2027-06-30' } });
const zoned = stackOf({ ...row, domainNames: { ...names, hostedZone } });
const certified = stackOf({ ...row, domainNames: { ...names, certificateArn } });
const strict = { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', EndpointAccessMode: 'STRICT' };
const api = apiOf(plain);
const dashboard = apiOf(plain, 'Dashboard');

describe('the API', () => {
  it('is throttled as a whole, and its own receiver further; only deletions have metrics of their own', () => {
    const settings = [api, dashboard].flatMap(({ all }) => all('Stage')[0].MethodSettings);
    const { requestsPerSecond, burst } = row.throttle;
    for (const { ResourcePath, ThrottlingRateLimit, ThrottlingBurstLimit, LoggingLevel } of settings) {
      const limits =
        ResourcePath === '/~1webhook-origins~1check~1{webhookId}' ? [5, 10] : [requestsPerSecond, burst];
      expect([ThrottlingRateLimit, ThrottlingBurstLimit, LoggingLevel]).toEqual([...limits, 'OFF']);
    }
    const measured = settings.filter(({ MetricsEnabled }) => MetricsEnabled);
    expect(measured).toMatchObject([
      { HttpMethod: 'DELETE', ResourcePath: '/~1auth~1user-groups~1{userGroupId}' },
    ]);
  });

  it('may invoke each function only for its own route', () => {
    const sources = plain
      .all('AWS::Lambda::Permission')
      .filter(({ Properties }) => Properties.Principal === 'apigateway.amazonaws.com')
      .map(({ Properties }) => textOf(Properties.SourceArn).replace(/^.*\{AWS::AccountId\}:/, ''));
    expect(sources.map((source) => source.replaceAll(/\{\w+\}/g, '{}')).sort()).toEqual([
      '{}/authorizers/{}',
      '{}/{}/DELETE/auth/user-groups/*',
      '{}/{}/GET/',
      '{}/{}/POST/webhook-origins/check/*',
    ]);
  });

  it.each([api, dashboard])(
    '$logicalId needs TLS 1.2 and logs no text of the caller',
    ({ logicalId, all }) => {
      expect(plain.get(logicalId).Properties).toMatchObject(strict);
      const [stage] = all('Stage');
      const fields: Record<string, string> = JSON.parse(stage.AccessLogSetting.Format);
      // The runbook searches for them.
      expect(Object.keys(fields).join(' ')).toBe(
        'time requestId xAmznRequestId ip method resourcePath status errorType latency integrationStatus integrationLatency authorizerStatus authorizerLatency authorizerError wafResponseCode tlsVersion',
      );
      const variables = Object.values(fields);
      for (const variable of variables) expect(variable).toMatch(/^\$context(\.\w+)+$/);
      for (const written of ['path', 'identity.userAgent', 'authorizer.principalId', 'requestOverride'])
        expect(variables).not.toContain(`$context.${written}`);
    },
  );

  it('creates gateway responses one after the other, as API Gateway requires', () => {
    const responses = plain.all('AWS::ApiGateway::GatewayResponse');
    const unordered = responses.filter(({ DependsOn }) => DependsOn === undefined);
    expect(unordered).toHaveLength([api, dashboard].length);
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
    for (const { status, headers } of api.gatewayResponses()) {
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
      expect(headers['retry-after']).toBe(status === 429 ? '1' : undefined);
    }
  });

  it('announces a deprecation in all responses, and its last day once it is decided', () => {
    const sunset = 'Wed, 30 Jun 2027 00:00:00 GMT';
    const { origins, gatewayResponses } = apiOf(deprecated);
    const ofDashboard = apiOf(deprecated, 'Dashboard').gatewayResponses();
    for (const { headers } of [origins, ...gatewayResponses(), ...ofDashboard])
      expect(headers).toMatchObject({ deprecation: '@1795132800', sunset });
    const { Variables } = deprecated.named('AWS::Lambda::Function', 'DeleteUserGroup').Properties.Environment;
    expect(JSON.parse(Variables.RESPONSE_HEADERS)).toEqual({ Deprecation: '@1795132800', Sunset: sunset });
    expect(deprecationHeaders({ since: '2026-11-20' })).toEqual({ Deprecation: '@1795132800' });
  });

  it('lists the webhook origins with an ETag that changes with addresses and deprecation', () => {
    const elasticIp = /^\{WebhookOriginElasticIp\w*(\.\w+)?\}/;
    expect(JSON.parse(api.origins.body).addresses).toEqual([expect.stringMatching(elasticIp)]);
    const tags = [plain, deprecated, stackOf({ ...row, webhookOrigin: { reserve: true } })].map(
      (stack) => apiOf(stack).origins.headers.etag?.slice(1, -1) ?? '',
    );
    expect(new Set(tags).size).toBe(tags.length);
    for (const tag of tags) expect(tag).toMatch(elasticIp);
    const { addresses, reserve } = JSON.parse(apiOf(stackOf(withReserve)).origins.body);
    expect([addresses.length, reserve.length]).toEqual([1, 1]);
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

describe.each<[string, StackTemplate]>([
  ['a hosted zone', zoned],
  ['a certificate', certified],
])('custom domain names with %s', (_, stack) => {
  const domains = stack.all('AWS::ApiGateway::DomainName');
  const idOf = (name: string) => domains.find(({ Properties }) => Properties.DomainName === name)?.logicalId;

  it('map to the stages, are in the outputs, and replace the default endpoints at once', () => {
    const mapped = stack
      .all('AWS::ApiGateway::BasePathMapping')
      .map(({ Properties }) => [Properties.DomainName.Ref, Properties.RestApiId.Ref, Properties.BasePath]);
    expect(mapped).toEqual([
      [idOf(names.api), api.logicalId, undefined],
      [idOf(names.dashboard), dashboard.logicalId, undefined],
    ]);
    const { ApiBaseUrl, DashboardUrl } = stack.json.Outputs;
    expect([ApiBaseUrl.Value, DashboardUrl.Value]).toEqual([
      `https://${names.api}`,
      `https://${names.dashboard}`,
    ]);
    for (const { Properties } of domains) expect(Properties).toMatchObject(strict);
    for (const { Properties } of stack.all('AWS::ApiGateway::RestApi'))
      expect(Properties.DisableExecuteApiEndpoint).toBe(true);
    // Only a new deployment disables the endpoint.
    for (const { logicalId } of plain.all('AWS::ApiGateway::Deployment'))
      expect(stack.json.Resources).not.toHaveProperty(logicalId);
  });

  it('have the certificate and the records of the row, or outputs for whoever adds the records', () => {
    const targets = Object.values(names).map((name) => [idOf(name), 'RegionalDomainName']);
    const { ApiDomainTarget, DashboardDomainTarget } = stack.json.Outputs;
    const outputs = [ApiDomainTarget, DashboardDomainTarget].map((output) => output?.Value['Fn::GetAtt']);
    const records = stack
      .all('AWS::Route53::RecordSet')
      .map(({ Properties }) => Properties.AliasTarget.DNSName['Fn::GetAtt']);
    const [created] = stack.all('AWS::CertificateManager::Certificate');
    expect(domains.map(({ Properties }) => Properties.RegionalCertificateArn)).toEqual(
      targets.map(() => (created ? { Ref: created.logicalId } : certificateArn)),
    );
    expect([records, outputs]).toEqual(stack === zoned ? [targets, [undefined, undefined]] : [[], targets]);
  });
});
