import { synthesizeApi } from '../../support/region-api';

const api = synthesizeApi();

const only = (type: string) => {
  const found = api.all(type);
  expect(found).toHaveLength(1);
  return found[0];
};

describe('the firewall', () => {
  const webAcl = only('AWS::WAFv2::WebACL');
  const rules: { Name: string; Statement: Record<string, Record<string, unknown>>; Action?: object }[] =
    webAcl.Rules;

  it('is regional and stands before the stage', () => {
    expect(webAcl.Scope).toBe('REGIONAL');
    const { ResourceArn } = only('AWS::WAFv2::WebACLAssociation');
    const [stage] = Object.keys(api.template.findResources('AWS::ApiGateway::Stage'));
    expect(ResourceArn['Fn::Join'][1].at(-1)).toEqual({ Ref: stage });
  });

  it('lets honest programs through: without User-Agent, and with a body that the API itself refuses', () => {
    const common = rules.find(({ Name }) => Name === 'AWSManagedRulesCommonRuleSet');
    expect(common?.Statement.ManagedRuleGroupStatement?.RuleActionOverrides).toEqual([
      { Name: 'NoUserAgent_HEADER', ActionToUse: { Count: {} } },
      { Name: 'SizeRestrictions_BODY', ActionToUse: { Count: {} } },
    ]);
  });

  it('leaves the answer to the gateway, which knows the id of the request', () => {
    expect(JSON.stringify(rules)).not.toContain('CustomResponse');
    expect(webAcl.CustomResponseBodies).toBeUndefined();
  });

  it('shows credentials neither in samples nor in its log', () => {
    const secret = ['authorization', 'x-svc-useraction'];
    expect(webAcl.DataProtectionConfig.DataProtections).toEqual([
      { Action: 'SUBSTITUTION', Field: { FieldType: 'SINGLE_HEADER', FieldKeys: secret } },
    ]);
    expect(only('AWS::WAFv2::LoggingConfiguration').RedactedFields).toEqual(
      secret.map((Name) => ({ SingleHeader: { Name } })),
    );
  });

  it('logs to a group in the region, by the name that AWS WAF wants', () => {
    const [destination] = only('AWS::WAFv2::LoggingConfiguration').LogDestinationConfigs;
    const [logGroup, { Properties }] = Object.entries(api.template.findResources('AWS::Logs::LogGroup')).find(
      ([, group]) => group.Properties.LogGroupName,
    ) as [string, { Properties: { LogGroupName: object } }];
    expect(JSON.stringify(Properties.LogGroupName)).toContain(`aws-waf-logs-wallet-${api.environment.name}`);
    expect(destination['Fn::Join'][1].at(-1)).toEqual({ Ref: logGroup });
  });

  it('is measured, rule by rule', () => {
    const metrics = [webAcl, ...webAcl.Rules].map(({ VisibilityConfig }) => VisibilityConfig);
    expect(new Set(metrics.map(({ MetricName }) => MetricName)).size).toBe(5);
    for (const metric of metrics) expect(metric).toMatchObject({ CloudWatchMetricsEnabled: true });
  });
});
