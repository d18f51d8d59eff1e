import { createHash } from 'node:crypto';
import { dashboardPage } from '../../lib/dashboard/page';
import { apiOf, textOf } from '../support/region-api';
import { withReserve } from '../support/rows';
import { stackOf } from '../support/stacks';

const stack = stackOf(withReserve);
const { routes, gatewayResponses } = apiOf(stack, 'Dashboard');
const { Variables } = stack.named('AWS::Lambda::Function', 'DashboardServeDashboard').Properties.Environment;

it('the dashboard serves one page and nothing else', () => {
  expect(Object.keys(routes)).toEqual(['GET ']);
});

it('the dashboard shows the addresses of its own stack', () => {
  const output = (name: string) => textOf(stack.json.Outputs[name].Value);
  expect(JSON.parse(textOf(Variables.FACTS))).toMatchObject({
    environment: stack.environment.name,
    apiBaseUrl: output('ApiBaseUrl'),
    address: output('WebhookOriginAddress'),
    reserve: output('WebhookOriginReserveAddress'),
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
  const own = Object.entries(JSON.parse(Variables.RESPONSE_HEADERS));
  expect(Object.fromEntries(own.map(([name, value]) => [name.toLowerCase(), value]))).toMatchObject(promised);
  expect(gatewayResponses()).not.toEqual([]);
  for (const { type, headers } of gatewayResponses())
    expect({ type, ...headers }).toMatchObject({ type, ...promised });
});

it("the dashboard's facts fit into a function's environment variables", () => {
  // 4 KB in all: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
  const text = Object.entries(Variables).map(([name, value]) => name + textOf(value));
  expect(text.join('').length).toBeLessThan(3_500);
});

describe('the page', () => {
  const { html, headers } = dashboardPage();
  const policy: Readonly<Record<string, string>> = Object.fromEntries(
    (headers['Content-Security-Policy'] ?? '').split('; ').map((directive) => directive.split(/ (.*)/)),
  );

  it.each(['style', 'script'])('has one %s, exactly that which its policy allows', (element) => {
    const texts = [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))];
    const hashes = texts.map(([, text = '']) => createHash('sha256').update(text).digest('base64'));
    expect(hashes.map((hash) => `'sha256-${hash}'`)).toEqual([policy[`${element}-src`]]);
  });

  it('may load and send nothing else, and may not be framed or cached', () => {
    for (const name of ['default-src', 'base-uri', 'form-action', 'frame-ancestors', 'trusted-types'])
      expect(policy[name]).toBe("'none'");
    expect(policy['require-trusted-types-for']).toBe("'script'");
    expect(headers['Cache-Control']).toBe('no-store');
    const sources = Object.keys(policy).filter((name) => /-src$/.test(name));
    expect(sources.sort()).toEqual(['default-src', 'img-src', 'script-src', 'style-src']);
  });
});
