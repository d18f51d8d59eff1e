import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stage } from 'aws-cdk-lib';
import { transformSync } from 'esbuild';
import { parse } from 'yaml';
import { routes } from '../../domain/routes';
import { addEnvironments, createApp, newApp } from '../../lib/environments-app';
import { projectRoot } from '../architecture/sources';
import { reference, withCosts } from '../runs/costs/write-costs';
import { codeUnder, readDocuments } from '../support/documents';
import { complete, first, withDirectAccess } from '../support/rows';
import { type Json, type Resource, stackOf, synthesizeEveryStack } from '../support/stacks';
import { temporaryFolder } from '../support/temporary-folder';

// What documents say of the stacks, compared with the templates.

const folder = temporaryFolder();
const documents = readDocuments();
const read = (page: string) => readFileSync(join(projectRoot, 'docs', page), 'utf8');
const find = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found = '']) => found);
const stacks = Object.values(synthesizeEveryStack([complete]));
const stack = stackOf(withDirectAccess);

it('operating.md has the limits of webhooks, firewall and throttle as they are', () => {
  const rows = read('operating.md').matchAll(/^\| (.*) \| (.*) \| .* \|$/gm);
  const limits = new Map(Array.from(rows, ([, limit = '', value = '']) => [limit, value]));
  const migration = join(projectRoot, 'lambda/database/migrations/0002-webhook-limit-and-events.sql');
  const webhooks = limits.get('enabled webhooks of an organization');
  expect(readFileSync(migration, 'utf8')).toContain(`>= ${webhooks} then`);
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
  expect(template(stack.name)).toContain(
    `arn:aws:lambda:${withDirectAccess.region}:111122223333:layer:telemetry:7`,
  );
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

it.each(['rateLimit', 'burstLimit'])(
  'a restore sets the %s of each method that has its own, but for the check of our own webhooks',
  (limit) => {
    const [, section = ''] = read('runbook/emergencies.md').split('\n## Restore to a point in time\n');
    const { MethodSettings } = stack.named('AWS::ApiGateway::Stage', 'Api').Properties;
    const methods: string[] = MethodSettings.map(
      ({ ResourcePath, HttpMethod }: Json) => `${ResourcePath}/${HttpMethod}`,
    );
    const ofCheck = `/${routes.checkDelivery.path.replaceAll('/', '~1')}/POST`;
    const pattern = new RegExp(`path='?(/[^,']*)/throttling/${limit}`, 'g');
    const set = find(section.split('\n## ')[0] ?? '', pattern);
    expect([...set, ofCheck].sort()).toEqual(methods.sort());
  },
);

/**
 * The alarms that notify: whether each fires without data, and the minutes after its last event until it is `OK`, if it counts events.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
 */
const alarms = stacks.flatMap((stack) => {
  const nameOf = ({ Properties }: Resource): string => Properties.AlarmName.replace(`${stack.name}-`, '');
  const all = stack.all('AWS::CloudWatch::Alarm').map((alarm) => {
    const { AlarmActions, TreatMissingData, Statistic: Stat, Period, Metrics } = alarm.Properties;
    const parts: readonly { Stat: string; Period: number }[] = Metrics?.flatMap(
      ({ MetricStat = [] }) => MetricStat,
    ) ?? [{ Stat, Period }];
    const counts = TreatMissingData === 'notBreaching' && parts.every((part) => part.Stat === 'Sum');
    const minutes = counts ? (parts[0]?.Period ?? 0) / 60 : 0;
    const firesWithoutData = TreatMissingData === 'breaching' && alarm.Condition === undefined;
    const { logicalId } = alarm;
    return {
      name: nameOf(alarm),
      logicalId,
      notifies: AlarmActions !== undefined,
      firesWithoutData,
      minutes,
    };
  });
  // It is in ALARM while all of its parts are.
  const composites = stack.all('AWS::CloudWatch::CompositeAlarm').map((alarm) => {
    const rule = JSON.stringify(alarm.Properties.AlarmRule);
    const parts = all.filter(({ logicalId }) => rule.includes(logicalId));
    const minutes = Math.min(...parts.map((part) => part.minutes));
    return { name: nameOf(alarm), firesWithoutData: false, minutes };
  });
  return [...all.filter(({ notifies }) => notifies), ...composites];
});

/** The names of alarms in a text; `function-errors-…` names several. */
const alarmsIn = (text: string) =>
  find(text, /`([^`\s]+)`/g).flatMap((span) =>
    alarms
      .map(({ name }) => name)
      .filter((name) => name === span || (span.endsWith('…') && name.startsWith(span.slice(0, -1)))),
  );

it('alarms.md says which alarms return to OK by themselves, and after how long', () => {
  const rows = Array.from(read('runbook/alarms.md').matchAll(/^\| (\d+) minutes \| (.*) \|$/gm));
  const said = rows.flatMap(([, minutes, cell = '']) =>
    alarmsIn(cell).map((name) => [name, Number(minutes)]),
  );
  const computed = alarms.flatMap(({ name, minutes }) => (minutes ? [[name, minutes]] : []));
  expect(said.sort()).toEqual(computed.sort());
});

it('alarms.md lists what fires without data, as in a new stack', () => {
  const [, list = ''] =
    /Without data, as in a new stack, these fire: (.*?)\. /s.exec(read('runbook/alarms.md')) ?? [];
  const expected = alarms.filter(({ firesWithoutData }) => firesWithoutData).map(({ name }) => name);
  expect(alarmsIn(list).sort()).toEqual(expected.sort());
});

it('the runbook names graphs as the CloudWatch dashboard does, in italics', () => {
  const bodies = stacks.flatMap((stack) =>
    JSON.stringify(stack.all('AWS::CloudWatch::Dashboard')).replace(/\\+"/g, '"'),
  );
  const graphs = bodies.flatMap((body) => find(body, /"title":"(.*?)"/g));
  const runbook = documents.filter(({ path }) => /runbook/.test(path));
  const named = runbook.flatMap(({ text }) => find(text, /(?<![*\w])\*([A-Z][^*]+)\*(?![*\w])/g));
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((title) => !graphs.includes(title.replace(/\s+/g, ' ')))).toEqual([]);
});
