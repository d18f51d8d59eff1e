import { createHash } from 'node:crypto';
import { dashboardPage, securityHeaders } from '../../lib/dashboard/page';
import { apiOf, textOf } from '../support/region-api';
import { withReserve } from '../support/rows';
import {
  environmentsWithEveryOption,
  type Resource,
  stackOf,
  synthesizeStacks,
  withApp,
} from '../support/stacks';

const stacks = [...Object.entries(synthesizeStacks()), ['one with a reserve', stackOf(withReserve)] as const];

describe.each(stacks)('the dashboard of %s', (_, stack) => {
  const { all, routes, gatewayResponses } = apiOf(stack, 'Dashboard');
  const { Variables } = stack.named('AWS::Lambda::Function', 'DashboardServeDashboard').Properties
    .Environment;

  it('serves one page and nothing else', () => {
    expect(all('Resource')).toEqual([]);
    expect(Object.keys(routes)).toEqual(['GET ']);
  });

  it('shows the addresses of its own stack', () => {
    const output = (name: string) => textOf(stack.json.Outputs[name]?.Value ?? '');
    expect(JSON.parse(textOf(Variables.FACTS))).toMatchObject({
      environment: stack.environment.name,
      apiBaseUrl: output('ApiBaseUrl'),
      address: output('WebhookOriginAddress'),
      ...(stack.environment.webhookOrigin?.reserve && { reserve: output('WebhookOriginReserveAddress') }),
    });
  });

  it('sends its security headers with the page and with refusals', () => {
    expect(JSON.parse(Variables.RESPONSE_HEADERS)).toMatchObject(dashboardPage().headers);
    expect(dashboardPage().headers).toMatchObject(securityHeaders);
    const lowerCase = Object.entries(securityHeaders).map(([name, value]) => [name.toLowerCase(), value]);
    expect(gatewayResponses()).not.toEqual([]);
    for (const { headers } of gatewayResponses())
      expect(headers).toMatchObject(Object.fromEntries(lowerCase));
  });

  it("fits into a function's environment variables", () => {
    // 4 KB in all: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
    const text = Object.entries(Variables).map(([name, value]) => name + textOf(value));
    expect(text.join('').length).toBeLessThan(3_500);
  });
});

it('links the dashboards of other environments that have custom domain names, and no others', () => {
  const [plain, ...named] = environmentsWithEveryOption();
  const { domainNames: _, ...unnamed } = plain as NonNullable<typeof plain>;
  const linked = withApp(
    (app) =>
      app
        .synth()
        .stacks.flatMap(({ template }) =>
          Object.values<Resource>(template.Resources).flatMap(
            ({ Properties }) => Properties?.Environment?.Variables?.OTHER_DASHBOARDS ?? [],
          ),
        ),
    { environments: [unnamed, ...named], validateTemplates: false },
  );
  const expected = [unnamed, ...named].map((row) =>
    named
      .filter((other) => other !== row)
      .map(({ name, purpose }) => ({
        environment: name,
        purpose,
        url: `https://dashboard.${name}.example.com`,
      })),
  );
  expect(new Set(linked)).toEqual(new Set(expected.map((dashboards) => JSON.stringify(dashboards))));
});

describe('the page', () => {
  const { html, headers } = dashboardPage();
  const policy: Readonly<Record<string, string>> = Object.fromEntries(
    (headers['Content-Security-Policy'] ?? '').split('; ').map((directive) => directive.split(/ (.*)/)),
  );

  it('has one style and one script, exactly those that its policy allows', () => {
    for (const [element, directive] of [
      ['style', 'style-src'],
      ['script', 'script-src'],
    ]) {
      const texts = [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))];
      const hashes = texts.map(([, text = '']) => createHash('sha256').update(text).digest('base64'));
      expect(hashes.map((hash) => `'sha256-${hash}'`)).toEqual([policy[directive as string]]);
    }
    expect(html).not.toMatch(/ (on\w+|style)=/);
  });

  it('may load and send nothing else, and may not be framed or cached', () => {
    expect(policy).toMatchObject({
      'default-src': "'none'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
    });
    expect(
      Object.keys(policy)
        .filter((name) => /-src$/.test(name))
        .sort(),
    ).toEqual(['default-src', 'img-src', 'script-src', 'style-src']);
    expect(headers['Cache-Control']).toBe('no-store');
    const addresses = [...html.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, address = '']) => address);
    // Only people follow links.
    expect(addresses.filter((address) => !/^(#|data:)/.test(address))).toEqual([
      'https://www.standardwebhooks.com',
    ]);
  });
});
