import { createHash } from 'node:crypto';
import { dashboardPage, securityHeaders } from '../../lib/dashboard/page';
import { first, withReserve } from '../support/rows';
import {
  environmentsWithEveryOption,
  type Resource,
  type StackTemplate,
  stackOf,
  synthesizeStacks,
  withApp,
} from '../support/stacks';

const stacks = synthesizeStacks();

const domainNames = {
  api: 'api.example.com',
  dashboard: 'dashboard.example.com',
  hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' },
};
const named = stackOf({ ...first, domainNames });
const each = [
  ...Object.entries(stacks),
  ['one with custom domain names', named] as const,
  ['one with a reserve', stackOf(withReserve)] as const,
];

/** A template value as text, with references in braces. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const [, parts] = (value as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join'] ?? [];
  if (parts) return parts.map(textOf).join('');
  return `{${Object.values(value as object)
    .flat()
    .join('.')}}`;
}

function dashboardOf(stack: StackTemplate) {
  const api = stack.named('AWS::ApiGateway::RestApi', 'Dashboard');
  const ofApi = (type: string): Resource[] =>
    stack
      .all(`AWS::ApiGateway::${type}`)
      .filter(({ Properties }) => Properties.RestApiId.Ref === api.logicalId);
  const { Variables } = stack.named('AWS::Lambda::Function', 'DashboardServeDashboard').Properties
    .Environment;
  return {
    api,
    ofApi,
    stage: ofApi('Stage')[0] as Resource,
    variables: Variables,
    facts: JSON.parse(textOf(Variables.FACTS)),
    headers: JSON.parse(textOf(Variables.RESPONSE_HEADERS)) as Record<string, string>,
  };
}

const output = (stack: StackTemplate, name: string) => textOf(stack.json.Outputs[name].Value);

/** Directive to its sources. */
const policyOf = (header = '') =>
  Object.fromEntries(
    header.split('; ').map((directive) => {
      const [name, ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );

describe.each(each)('the dashboard of %s', (_, stack) => {
  const { environment } = stack;
  const { api, ofApi, stage, variables, facts, headers } = dashboardOf(stack);

  it('has its own URL, in the region', () => {
    expect(api.Properties).toMatchObject({
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
    const { domainNames: names, region } = environment;
    expect(output(stack, 'DashboardUrl')).toBe(
      names
        ? `https://${names.dashboard}`
        : `https://{${api.logicalId}}.execute-api.${region}.{AWS::URLSuffix}/dashboard`,
    );
    expect(output(stack, 'ApiBaseUrl')).not.toContain(api.logicalId);
  });

  it('is behind the firewall of the API', () => {
    const associations = stack.all('AWS::WAFv2::WebACLAssociation').map(({ Properties }) => Properties);
    const [apiStage] = stack
      .all('AWS::ApiGateway::Stage')
      .filter(({ logicalId }) => logicalId !== stage.logicalId);
    expect(associations.map(({ ResourceArn }) => ResourceArn['Fn::Join'][1].at(-1).Ref).sort()).toEqual(
      [apiStage?.logicalId, stage.logicalId].sort(),
    );
    expect(new Set(associations.map(({ WebACLArn }) => textOf(WebACLArn))).size).toBe(1);
  });

  it('serves one page and nothing else', () => {
    expect(ofApi('Resource')).toEqual([]);
    expect(ofApi('Method').map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({ HttpMethod: 'GET', AuthorizationType: 'NONE' }),
    ]);
  });

  it('shows the public facts of its environment', () => {
    expect(facts).toEqual({
      environment: environment.name,
      purpose: environment.purpose,
      region: environment.region,
      residencyRegions: environment.residencyRegions,
      chains: environment.chains,
      serviceLevelAgreement: environment.serviceLevelAgreement,
      testFundsOnly: environment.testFundsOnly,
      ...(environment.deprecation && { deprecation: environment.deprecation }),
      apiBaseUrl: output(stack, 'ApiBaseUrl'),
      support: environment.support,
      address: output(stack, 'WebhookOriginAddress'),
      ...(environment.webhookOrigin?.reserve && {
        reserve: output(stack, 'WebhookOriginReserveAddress'),
      }),
      signatureHeaders: ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'],
    });
  });

  it('sends its security headers with the page and with refusals', () => {
    expect(headers).toMatchObject(dashboardPage().headers);
    const refusals = ofApi('GatewayResponse').map(({ Properties }) => Properties.ResponseParameters);
    expect(refusals).not.toEqual([]);
    for (const parameters of refusals)
      for (const [name, value] of Object.entries(securityHeaders))
        expect(parameters[`gatewayresponse.header.${name}`]).toBe(`'${value}'`);
  });

  it("fits into a function's environment variables", () => {
    // 4 KB in all: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
    const text = Object.entries(variables).map(([name, value]) => name + textOf(value));
    expect(text.join('').length).toBeLessThan(3_500);
  });
});

it('links the dashboards of other environments that have custom domain names, and no others', () => {
  const rows = environmentsWithEveryOption();
  const linked = withApp(
    (app) =>
      Object.fromEntries(
        app
          .synth()
          .stacks.map(({ stackName, template }) => [
            stackName,
            Object.values<Resource>(template.Resources).flatMap(
              ({ Properties }) => Properties?.Environment?.Variables?.OTHER_DASHBOARDS ?? [],
            ),
          ]),
      ),
    { environments: rows, validateTemplates: false },
  );
  for (const { name, stackId } of rows)
    expect(linked[stackId]?.map((dashboards) => JSON.parse(dashboards))).toEqual([
      rows
        .filter((row) => row.name !== name)
        .map((row) => ({
          environment: row.name,
          purpose: row.purpose,
          url: `https://dashboard.${row.name}.example.com`,
        })),
    ]);
  expect(dashboardOf(named).variables.OTHER_DASHBOARDS).toBe('[]');
});

describe('the page', () => {
  const { html, headers } = dashboardPage();
  const hash = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

  it('has one style and one script, exactly those that its policy allows', () => {
    const styles = [...html.matchAll(/<style>(.*?)<\/style>/gs)].map(([, text]) => hash(text));
    const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, text]) => hash(text));
    const policy = policyOf(headers['Content-Security-Policy']);
    expect({ styles, scripts }).toEqual({ styles: policy['style-src'], scripts: policy['script-src'] });
    expect(html).not.toMatch(/ (on\w+|style)=/);
  });

  it('may load only its own script and style, and may not be cached or framed, send requests or a referrer', () => {
    const {
      'script-src': script,
      'style-src': style,
      ...others
    } = policyOf(headers['Content-Security-Policy']);
    expect([script, style]).toEqual([
      [expect.stringMatching(/^'sha256-/)],
      [expect.stringMatching(/^'sha256-/)],
    ]);
    expect(others).toEqual({
      'default-src': ["'none'"],
      'img-src': ['data:'],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
      'require-trusted-types-for': ["'script'"],
      'trusted-types': ["'none'"],
    });
    expect(headers).toMatchObject({
      'Cache-Control': 'no-store',
      'Strict-Transport-Security': expect.stringMatching(/^max-age=\d{8,}$/),
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
    });
  });

  it('loads nothing', () => {
    const addresses = [...html.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, address = '']) => address);
    // Only people follow links.
    const links = [...html.matchAll(/<a href="(https:[^"]*)"/g)].map(([, address = '']) => address);
    expect(links).toEqual(['https://www.standardwebhooks.com']);
    expect(addresses.filter((address) => !/^(#|data:)/.test(address))).toEqual(links);
    expect(html).not.toMatch(/@import|url\(/);
  });
});
