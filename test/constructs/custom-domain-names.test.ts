import type { Environment } from '../../lib/environment';
import { first } from '../support/rows';
import { type StackTemplate, stackOf } from '../support/stacks';

const names = { api: 'api.example.com', dashboard: 'dashboard.example.com' };
const certificateArn = `arn:aws:acm:${first.region}:123456789012:certificate/1a2b-3c`;
const hostedZone = { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' };

const stackWith = (domainNames?: Environment['domainNames']) =>
  stackOf({ ...first, ...(domainNames && { domainNames }) });
const plain = stackWith();
const own = stackWith({ ...names, certificateArn });
const zoned = stackWith({ ...names, hostedZone });

const domainOf = (stack: StackTemplate, name: string) => {
  const found = stack
    .all('AWS::ApiGateway::DomainName')
    .filter(({ Properties }) => Properties.DomainName === name);
  expect(found).toHaveLength(1);
  return found[0] as (typeof found)[number];
};

describe.each([
  ['with a certificate', own],
  ['with a hosted zone', zoned],
])('custom domain names, %s', (_, stack) => {
  it('map to the API and to the dashboard, without a base path', () => {
    const served = stack.all('AWS::ApiGateway::BasePathMapping').map(({ Properties }) => {
      expect(Properties).not.toHaveProperty('BasePath');
      const { DomainName } = stack.get(Properties.DomainName.Ref).Properties;
      return [
        DomainName,
        stack.get(Properties.RestApiId.Ref).Properties.Name,
        stack.get(Properties.Stage.Ref).Properties.StageName,
      ];
    });
    expect(served).toEqual([
      [names.api, `wallet-${first.name}`, 'api'],
      [names.dashboard, `wallet-${first.name}-dashboard`, 'dashboard'],
    ]);
  });

  it('are the addresses in the outputs, and the default endpoints are disabled', () => {
    const { ApiBaseUrl, DashboardUrl } = stack.json.Outputs;
    expect([ApiBaseUrl.Value, DashboardUrl.Value]).toEqual([
      `https://${names.api}`,
      `https://${names.dashboard}`,
    ]);
    for (const { Properties } of stack.all('AWS::ApiGateway::RestApi'))
      expect(Properties.DisableExecuteApiEndpoint).toBe(true);
  });

  it('create a new deployment, because the endpoint stays enabled until then', () => {
    const deployments = (each: StackTemplate) =>
      each.all('AWS::ApiGateway::Deployment').map(({ logicalId }) => logicalId);
    for (const logicalId of deployments(plain)) expect(deployments(stack)).not.toContain(logicalId);
  });
});

describe('with a certificate', () => {
  it('uses it, creates no record, and outputs the targets of the names', () => {
    expect(domainOf(own, names.api).Properties.RegionalCertificateArn).toBe(certificateArn);
    expect(own.all('AWS::CertificateManager::Certificate')).toEqual([]);
    expect(own.all('AWS::Route53::RecordSet')).toEqual([]);
    const { ApiDomainTarget, DashboardDomainTarget } = own.json.Outputs;
    for (const [name, { Value, Description }] of [
      [names.api, ApiDomainTarget],
      [names.dashboard, DashboardDomainTarget],
    ]) {
      expect(Value).toEqual({ 'Fn::GetAtt': [domainOf(own, name).logicalId, 'RegionalDomainName'] });
      expect(Description).toContain(`CNAME target for ${name}`);
    }
  });
});

describe('with a hosted zone', () => {
  it('creates a certificate for both names, validated through Route 53', () => {
    const certificate = zoned.only('AWS::CertificateManager::Certificate');
    expect(certificate.Properties).toMatchObject({
      DomainName: names.api,
      SubjectAlternativeNames: [names.dashboard],
      ValidationMethod: 'DNS',
    });
    expect(certificate.Properties.DomainValidationOptions).toEqual(
      [names.api, names.dashboard].map((DomainName) => ({ DomainName, HostedZoneId: hostedZone.id })),
    );
    expect(domainOf(zoned, names.dashboard).Properties.RegionalCertificateArn).toEqual({
      Ref: certificate.logicalId,
    });
  });

  it('creates an IPv4 alias for each name, and does not output the target', () => {
    const records = zoned.all('AWS::Route53::RecordSet').map(({ Properties }) => Properties);
    expect(records.map(({ Name, Type, HostedZoneId }) => [Name, Type, HostedZoneId])).toEqual([
      [`${names.api}.`, 'A', hostedZone.id],
      [`${names.dashboard}.`, 'A', hostedZone.id],
    ]);
    expect(records.map(({ AliasTarget }) => AliasTarget.DNSName['Fn::GetAtt'])).toEqual([
      [domainOf(zoned, names.api).logicalId, 'RegionalDomainName'],
      [domainOf(zoned, names.dashboard).logicalId, 'RegionalDomainName'],
    ]);
    expect(zoned.json.Outputs).not.toHaveProperty('ApiDomainTarget');
  });
});

it('without names, the addresses are those of API Gateway', () => {
  expect(plain.all('AWS::ApiGateway::DomainName')).toEqual([]);
  expect(JSON.stringify(plain.json.Outputs.ApiBaseUrl.Value)).toContain(`.execute-api.${first.region}.`);
});
