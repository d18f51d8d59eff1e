import { CfnEIP } from 'aws-cdk-lib/aws-ec2';
import { synthesizeApi } from '../support/region-api';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const api = synthesizeApi();
const routes = api.routes();

const only = (type: string) => {
  const found = api.all(type);
  expect(found).toHaveLength(1);
  return found[0];
};

describe('the deletion', () => {
  it('is routed to its function, behind the authorizer', () => {
    const [authorizer] = Object.keys(api.template.findResources('AWS::ApiGateway::Authorizer'));
    expect(routes['DELETE /auth/user-groups/{userGroupId}']).toMatchObject({
      AuthorizationType: 'CUSTOM',
      AuthorizerId: { Ref: authorizer },
      Integration: { Type: 'AWS_PROXY' },
    });
  });

  it('caches a decision per token, for at most 60 seconds', () => {
    expect(only('AWS::ApiGateway::Authorizer')).toMatchObject({
      Type: 'REQUEST',
      AuthorizerResultTtlInSeconds: 60,
      IdentitySource: 'method.request.header.Authorization',
    });
  });

  it('lets the gateway invoke each function only for its own route', () => {
    const sources = api
      .all('AWS::Lambda::Permission')
      .map(({ SourceArn }) => SourceArn['Fn::Join'][1].filter((part: unknown) => typeof part === 'string'))
      .map((parts: string[]) => parts.slice(-2).join('{…}'));
    expect(sources.sort()).toEqual(['/{…}/DELETE/auth/user-groups/*', ':{…}/authorizers/']);
  });
});

describe('the webhook origins', () => {
  const originsOf = (synthesized: typeof api) => synthesized.routes()['GET /webhook-origins'] as Json;
  const responseOf = (synthesized: typeof api) => originsOf(synthesized).Integration.IntegrationResponses[0];
  const bodyOf = (synthesized: typeof api) => responseOf(synthesized).ResponseTemplates['application/json'];

  it('are public and need no function', () => {
    expect(originsOf(api)).toMatchObject({ AuthorizationType: 'NONE', Integration: { Type: 'MOCK' } });
  });

  it('contain environment, region, the one address as a CIDR block, the headers to verify, and deprecation', () => {
    expect(JSON.parse(bodyOf(api))).toEqual({
      environment: api.environment.name,
      region: api.environment.region,
      addresses: ['203.0.113.7/32'],
      signatureHeaders: ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'],
      deprecated: false,
    });
    const deprecation = { since: '2026-11-20', sunset: '2027-06-30' };
    expect(JSON.parse(bodyOf(synthesizeApi({ deprecation })))).toMatchObject({
      deprecated: true,
      deprecation,
    });
  });

  it('take the address from the Elastic IP itself', () => {
    const withElasticIp = synthesizeApi({}, (stack) => new CfnEIP(stack, 'ElasticIp').ref);
    expect(bodyOf(withElasticIp)).toEqual({
      'Fn::Join': [
        '',
        [expect.stringMatching(/"addresses":\["$/), { Ref: 'ElasticIp' }, expect.stringMatching(/^\/32"\]/)],
      ],
    });
  });

  it('list the reserve separately, so that `addresses` does not change', () => {
    const reserving = JSON.parse(bodyOf(synthesizeApi({}, undefined, '203.0.113.8')));
    expect(reserving).toEqual({ ...JSON.parse(bodyOf(api)), reserve: ['203.0.113.8/32'] });
  });

  it('may be cached, with an ETag that changes with the document', () => {
    const headerOf = (synthesized: typeof api, name: string) =>
      responseOf(synthesized).ResponseParameters[`method.response.header.${name}`];
    expect(headerOf(api, 'Cache-Control')).toBe("'public, max-age=3600'");
    expect(headerOf(api, 'ETag')).toMatch(/^'"203\.0\.113\.7-[0-9a-f]{8}"'$/);
    const others = [
      synthesizeApi({}, () => '203.0.113.9'),
      synthesizeApi({}, undefined, '203.0.113.8'),
      synthesizeApi({ deprecation: { since: '2026-11-20' } }),
    ];
    expect(new Set([api, ...others].map((each) => headerOf(each, 'ETag'))).size).toBe(4);
  });

  it('respond to HEAD as to GET', () => {
    const { HttpMethod, OperationName, ...get } = originsOf(api);
    expect(api.routes()['HEAD /webhook-origins']).toMatchObject(get);
  });
});

describe('the stage', () => {
  const stage = only('AWS::ApiGateway::Stage');

  it('logs each request as a line of JSON without credentials, paths or headers', () => {
    const format: Record<string, string> = JSON.parse(stage.AccessLogSetting.Format);
    const variables = Object.values(format);
    expect(variables).toEqual(variables.filter((variable) => /^\$context(\.\w+)+$/.test(variable)));
    expect(variables).toEqual(
      expect.arrayContaining([
        '$context.extendedRequestId',
        '$context.status',
        '$context.identity.sourceIp',
        '$context.wafResponseCode',
      ]),
    );
    const writtenByCallers = [
      '$context.path',
      '$context.identity.userAgent',
      '$context.authorizer.principalId',
    ];
    for (const variable of writtenByCallers) expect(variables).not.toContain(variable);
  });

  it("keeps its logs for the environment's retention, even when the stack is deleted", () => {
    const groups = Object.values(api.template.findResources('AWS::Logs::LogGroup'));
    expect(groups).toHaveLength(2);
    for (const group of groups) {
      expect(group).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        Properties: { RetentionInDays: api.environment.logRetentionDays },
      });
    }
  });
});
