import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stage } from 'aws-cdk-lib';
import { transformSync } from 'esbuild';
import { parse } from 'yaml';
import { routes } from '../../domain/routes';
import { addEnvironments, createApp, newApp } from '../../lib/environments-app';
import { readSource } from '../architecture/sources';
import { reference, withCosts } from '../runs/costs/write-costs';
import { codeUnder } from '../support/documents';
import { complete, first, withDirectAccess } from '../support/rows';
import { type Json, stackOf, synthesizeEveryStack } from '../support/stacks';
import { temporaryFolder } from '../support/temporary-folder';

// What documents say of the stacks, compared with the templates.

const folder = temporaryFolder();
const read = (page: string) => readSource(`docs/${page}`);
const find = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found = '']) => found);
const stacks = Object.values(synthesizeEveryStack([complete]));
const stack = stackOf(withDirectAccess);

it('operating.md has the limits of webhooks, firewall and throttle as they are', () => {
  const rows = read('operating.md').matchAll(/^\| (.*) \| (.*) \| .* \|$/gm);
  const limits = new Map(Array.from(rows, ([, limit = '', value = '']) => [limit, value]));
  const migration = readSource('lambda/database/migrations/0002-webhook-limit-and-events.sql');
  const webhooks = limits.get('enabled webhooks of an organization');
  expect(migration).toContain(`>= ${webhooks} then`);
  const { Rules } = stack.only('AWS::WAFv2::WebACL').Properties;
  const { Statement } = Rules.find(({ Name }: Json) => Name === 'RequestsPerAddress');
  const requests = Statement.RateBasedStatement.Limit.toLocaleString('en');
  expect(limits.get('requests from one address in five minutes, to API and dashboard')).toBe(
    `${requests}, then 403 \`request_blocked\``,
  );
  const { requestsPerSecond, burst } = first.throttle;
  expect(limits.get('requests a second to the API; burst')).toContain(`${requestsPerSecond}; ${burst}`);
});

it('reference.md has the costs that npx tsx test/runs/costs/write-costs.ts computes', () => {
  const page = readFileSync(reference, 'utf8');
  expect(withCosts(page)).toBe(page);
  expect(withCosts(page.replaceAll(/\d\.\d\d(?=\*\* \|$| \|$)/gm, '9.99'))).toBe(page);
});

it.each([
  ['Function', ['Architectures', 'Runtime']],
  ['Api', ['EndpointConfiguration', 'EndpointAccessMode', 'SecurityPolicy']],
])('region-trial.yaml tries the %s of the stacks', (logicalId, names) => {
  const { Type, Properties } = parse(read('region-trial.yaml')).Resources[logicalId];
  const tried = names.map((name) => Properties[name]);
  const used = stack.all(Type).map((resource) => names.map((name) => resource.Properties[name]));
  expect(new Set(used.map((each) => JSON.stringify(each)))).toEqual(new Set([JSON.stringify(tried)]));
});

it('deploying.md has an app with a layer on functions, and a stack beside ours', () => {
  const [code = ''] = codeUnder('docs/deploying.md', 'Build on it');
  // One environment, without the rule pack and CloudFormation's rules, which take most of a synthesis.
  const quick = { environments: [withDirectAccess], validateTemplates: false, outdir: folder() };
  const app = { createApp: (options: object) => createApp({ ...quick, ...options }) };
  const load = (name: string) => (name === '../lib/environments-app' ? app : require(name));
  new Function('require', transformSync(code, { loader: 'ts', format: 'cjs' }).code)(load);
  const template = (stackId: string) => readFileSync(join(folder(), `${stackId}.template.json`), 'utf8');
  const layer = `arn:aws:lambda:${withDirectAccess.region}:111122223333:layer:telemetry:7`;
  expect(template(stack.name)).toContain(layer);
  const beside = template(`${stack.name}Reports`);
  for (const text of ['"RetentionInDays": 365', '"Key": "environment"']) expect(beside).toContain(text);
});

it("environments may be in a stage of another's app, as deploying.md says", () => {
  const app = newApp(folder(), { builtinCloudFormationValidation: false });
  const stage = new Stage(app, 'Production');
  addEnvironments(stage, { environments: [withDirectAccess], validateTemplates: false });
  const { stacks } = app.synth().getNestedAssembly(stage.artifactId);
  expect(stacks.map(({ stackName }) => stackName)).toEqual([stack.name]);
});

it('a restore sets the limits of each method that has its own, but for the check of our own webhooks', () => {
  const [, section = ''] = read('runbook/emergencies.md').split('\n## Restore to a point in time\n');
  const { MethodSettings } = stack.named('AWS::ApiGateway::Stage', 'Api').Properties;
  const methods = MethodSettings.map((each: Json) => `${each.ResourcePath}/${each.HttpMethod}`).sort();
  const ofCheck = `/${routes.checkDelivery.path.replaceAll('/', '~1')}/POST`;
  for (const limit of ['rateLimit', 'burstLimit']) {
    const pattern = new RegExp(`path='?(/[^,']*)/throttling/${limit}`, 'g');
    expect([...find(section.split('\n## ')[0] ?? '', pattern), ofCheck].sort()).toEqual(methods);
  }
});

it('alarms.md lists what fires without data, as in a new stack', () => {
  const [, list = ''] =
    /Without data, as in a new stack, these fire: (.*?)\. /s.exec(read('runbook/alarms.md')) ?? [];
  const expected = stacks.flatMap((stack) =>
    stack
      .all('AWS::CloudWatch::Alarm')
      .filter(({ Condition }) => Condition === undefined)
      .filter(({ Properties }) => Properties.AlarmActions && Properties.TreatMissingData === 'breaching')
      .map(({ Properties }) => Properties.AlarmName.replace(`${stack.name}-`, '')),
  );
  expect(find(list, /`([^`\s]+)`/g).sort()).toEqual(expected.sort());
});
