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

  it('allows legitimate clients without a User-Agent or with a body that the API itself refuses', () => {
    const common = rules.find(({ Name }) => Name === 'AWSManagedRulesCommonRuleSet');
    expect(common?.Statement.ManagedRuleGroupStatement?.RuleActionOverrides).toEqual([
      { Name: 'NoUserAgent_HEADER', ActionToUse: { Count: {} } },
      { Name: 'SizeRestrictions_BODY', ActionToUse: { Count: {} } },
    ]);
  });

  it('leaves the response to the gateway, which adds the request id', () => {
    expect(JSON.stringify(rules)).not.toContain('CustomResponse');
    expect(webAcl.CustomResponseBodies).toBeUndefined();
  });

  it('redacts credentials in samples and in its log', () => {
    const secret = ['authorization', 'x-svc-useraction'];
    expect(webAcl.DataProtectionConfig.DataProtections).toEqual([
      { Action: 'SUBSTITUTION', Field: { FieldType: 'SINGLE_HEADER', FieldKeys: secret } },
    ]);
    expect(only('AWS::WAFv2::LoggingConfiguration').RedactedFields).toEqual(
      secret.map((Name) => ({ SingleHeader: { Name } })),
    );
  });

  it('logs to a group in the region, with the name prefix that AWS WAF requires', () => {
    const [destination] = only('AWS::WAFv2::LoggingConfiguration').LogDestinationConfigs;
    const [logGroup, { Properties }] = Object.entries(api.template.findResources('AWS::Logs::LogGroup')).find(
      ([, group]) => group.Properties.LogGroupName,
    ) as [string, { Properties: { LogGroupName: object } }];
    expect(JSON.stringify(Properties.LogGroupName)).toContain(`aws-waf-logs-wallet-${api.environment.name}`);
    expect(destination['Fn::Join'][1].at(-1)).toEqual({ Ref: logGroup });
  });
});
