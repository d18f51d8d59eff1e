import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseEvent } from '../../domain/event';
import { readAccountSettings } from '../../lib/account/settings';
import { inForce } from '../../lib/environment/schema';
import { resourceControlPolicy, serviceControlPolicy } from '../../lib/guardrails/policies';
import { projectRoot, readSource } from '../architecture/sources';
import { workflows } from '../ci/workspace';
import { permissionsFor } from '../constructs/documented-permissions';
import { account as accountId, guarded, requestsOfCall, templatesOf } from '../guardrails/requests';
import { readDocuments } from '../support/documents';
import { type Request, statementsFor } from '../support/policy-evaluator';
import { complete as completeRow, first, serving, withStandby } from '../support/rows';
import { type Json, stackOf } from '../support/stacks';
import { walletCommands } from '../support/wallet-command';
import {
  commandOf,
  type DocumentedCall,
  documentedCalls,
  documentedLines,
  operationOf,
  optionOf,
  roles,
  runDocuments,
  sectionsIn,
} from './calls';

const documents = readDocuments();
const page = (name: string) => documents.find(({ path }) => path === `docs/${name}.md`)?.text ?? '';
const { problems, calls } = runDocuments();
const callsOf = (program: string) => [
  ...new Map(
    calls.flatMap(([, each, ...words]) => (each === program ? [[words.join(' '), words] as const] : [])),
  ).values(),
];

it('Bash finds no mistake in the commands of the documents, run section by section', () => {
  expect(calls.length).toBeGreaterThan(300);
  const found = Array.from(problems.matchAll(/line (\d+): (.*)/g), ([, line, problem]) => {
    const { path, section, command } = documentedLines[Number(line) - 1] ?? {};
    return { path, section, command, problem };
  });
  expect(found.length > 0 ? found : problems).toBe('');
});

/** Of every command: https://docs.aws.amazon.com/cli/latest/reference/#global-options, and of those that have a payload or an input. */
const common = ['cli-binary-format', 'cli-input-json', 'output', 'profile', 'query', 'region'].concat(
  // Of `sns subscribe`, for `Endpoint`: https://github.com/aws/aws-cli/blob/develop/awscli/customizations/argrename.py
  ['notification-endpoint'],
);
/** Commands of the AWS command line itself. */
const own = /^(configure|login|sso|cloudformation deploy)\b/;

const unknownOptions = (words: readonly string[], known: readonly string[]) =>
  words.filter((word) => /^--./.test(word) && !known.includes(word.slice(2).replace(/^no-|=.*/g, '')));

it('every command of AWS in the documents exists, with its options', () => {
  const unknown = callsOf('aws').flatMap((words) => {
    const { service, command } = commandOf(words.join(' '));
    const { isCovered, name, members } = operationOf(service, command);
    if (!isCovered || own.test(words.join(' '))) return [];
    const wrong = unknownOptions(words, [...common, ...members.map(optionOf)]);
    return name === '' || wrong.length > 0 ? [[words.join(' '), name, wrong]] : [];
  });
  expect(unknown).toEqual([]);
});

const readJson = (path: string) => JSON.parse(readSource(path));
const { scripts } = readJson('package.json');
const cdk = readJson('node_modules/aws-cdk/lib/cli/cli-type-registry.json');

it('every command of npm and npx in the documents exists, with the options of the CDK', () => {
  const ofNpm = callsOf('npm').filter(([command = '', ...words]) =>
    command === 'run'
      ? !(words.filter((word) => word !== '-s')[0] ?? '' in scripts)
      : !/^(ci|sbom|start|test)$/.test(command),
  );
  const ofNpx = callsOf('npx').filter(([program, name = '', ...words]) => {
    if (program !== 'cdk') return name !== 'FILE' && !existsSync(join(projectRoot, name));
    const { options } = cdk.commands[name] ?? {};
    return !options || unknownOptions(words, Object.keys({ ...options, ...cdk.globalOptions })).length > 0;
  });
  expect([...ofNpm, ...ofNpx]).toEqual([]);
});

const placeholders: readonly (readonly [RegExp, string])[] = [
  [/^(\w\w)-…$/g, '$1-aaaaa-bbbbb-cccccccccccccccc'],
  [/^NAME$/, first.name],
  [/^TIME$/, '2h'],
  [/^N$/, '1'],
];

it('every call of ./wallet in the documents has the options and values of a command', async () => {
  const refused: string[] = [];
  for (const words of callsOf('./wallet').filter(([word]) => word !== '--help')) {
    const [one = '', two = ''] = words;
    const paths = [`${one} ${two}`, one, `local ${one}`];
    const [path, command] = walletCommands.find(([each]) => paths.includes(each)) ?? [];
    const demands = command?.options.some(({ mandatory }) => mandatory);
    // A mention of a command is not a call of it.
    if (demands && words.every((word) => !word.startsWith('--'))) continue;
    const given = words
      .slice(path === paths[0] ? 2 : 1)
      .map((word) => placeholders.reduce((so, [pattern, value]) => so.replace(pattern, value), word));
    const parsing = command?.action(() => undefined).parseAsync(given, { from: 'user' });
    const refuse = (error?: Error) => refused.push(`${words.join(' ')}: ${error?.message}`);
    await (parsing?.catch(refuse) ?? refuse());
  }
  expect(refused).toEqual([]);
});

it('deploying.md passes the account stack the settings that it reads', () => {
  const [line = ''] = /^npm run -s account -- deploy.*$/m.exec(page('deploying')) ?? [];
  const context = Object.fromEntries(
    Array.from(line.matchAll(/-c wallet:([a-z-]+)=(\S+)/g), (match) => match.slice(1)),
  );
  expect(readAccountSettings((name) => context[name])).toMatchObject({ repository: 'owner/name' });
});

it('deploying.md names the variables that the workflows read', () => {
  const all = workflows.map((workflow) => workflow.text).join('\n');
  const named = Array.from(page('deploying').matchAll(/^- `([A-Z_]+)` is/gm), ([, name]) => name);
  expect(new Set(named)).toEqual(new Set(Array.from(all.matchAll(/\bvars\.(\w+)/g), ([, name]) => name)));
  expect(all).not.toMatch(/\bsecrets\./);
});

it('the example in events.md is an event', () => {
  const [, event = ''] = /```json\n(.+)\n```/.exec(page('events')) ?? [];
  expect(parseEvent(event)).toMatchObject({ ok: true });
});

const procedures = ['emergencies', 'planned-work'].map((page) => `docs/runbook/${page}.md`);
const sections = documents
  .filter(({ path }) => procedures.includes(path))
  .flatMap(sectionsIn)
  .filter(({ heading }) => heading !== '');
const made = documentedCalls();

it('each procedure of the runbook names the role that does it', () => {
  expect(sections.filter(({ role = '' }) => !roles.includes(role))).toEqual([]);
});

const guardrails = [serviceControlPolicy(guarded(withStandby)), resourceControlPolicy(guarded(withStandby))];
const isDenied = (request: Request) => guardrails.some((policy) => statementsFor(policy, request).length > 0);

it('asks for the break-glass role only for what the guardrails deny to administrators', () => {
  const broken = made.filter(({ role }) => role === 'break-glass');
  expect(broken.length).toBeGreaterThan(3);
  const needless = broken.filter(
    (call) => !requestsOfCall({ ...call, role: 'administrator' }, withStandby).some(isDenied),
  );
  expect(needless).toEqual([]);
});

/** The roles of the account stack, their ARNs as in an account. */
const references: Readonly<Record<string, string>> = { 'AWS::Partition': 'aws', 'AWS::AccountId': accountId };
const { Resources } = JSON.parse(JSON.stringify(templatesOf(withStandby).at(-1)), (_, value) => {
  if (value?.['Fn::Join']) return value['Fn::Join'][1].join('');
  return references[value?.Ref] ?? value;
});
const policyOf = (roleName: string): Json =>
  Object.values<Json>(Resources).find(({ Properties }) => Properties.RoleName === roleName).Properties
    .Policies[0].PolicyDocument;

const sides = [completeRow, serving(completeRow)].map((row) => ({ row: inForce(row), stack: stackOf(row) }));

/** A resource as docs/operating.md names it, in a stack that serves, with the tags that policies read. */
function resourceIn(
  { row: { region, stackId }, stack }: (typeof sides)[number],
  { action, resource }: { action: string; resource: string },
) {
  const [service = ''] = action.split(':');
  const [, output = ''] = /^`(\w+)`$/.exec(resource) ?? [];
  const { Value } = stack.json.Outputs[output] ?? {};
  const { logicalId = '', Properties = {} } = Value ? stack.get(Value.Ref ?? Value['Fn::GetAtt'][0]) : {};
  // CloudFormation joins stack name, logical id and random letters.
  const name = `${stackId}-${logicalId}-ABC`;
  const names: Readonly<Record<string, string>> = {
    cloudformation: `stack/${stackId}/0123`,
    kms: 'key/mrk-0123',
    lambda: output ? `function:${name}` : 'event-source-mapping:0123',
    sqs: name,
    ssm: 'parameter/cdk-bootstrap/hnb659fds/version',
  };
  const tags = (Properties.Tags ?? []).map((tag: Json) => [`aws:ResourceTag/${tag.Key}`, tag.Value]);
  return {
    resource: service in names ? `arn:aws:${service}:${region}:${accountId}:${names[service]}` : '*',
    context: Object.fromEntries(tags),
  };
}

const needed = ({ kind, text, actions }: DocumentedCall) =>
  kind === 'wallet' ? permissionsFor(text) : actions.map((action) => ({ action, resource: 'the stack' }));

it.each(sides)('the role of the person on call may do its sections in $row.region', (side) => {
  const { row } = side;
  const own = made.filter(({ role, path }) => role === 'operate' && procedures.includes(path));
  expect(new Set(own.map(({ section }) => section)).size).toBeGreaterThan(2);
  const refused = own.flatMap((call) =>
    needed(call).flatMap((permission) => {
      const { resource, context } = resourceIn(side, permission);
      const [asked] = requestsOfCall({ ...call, actions: [permission.action] }, row);
      const request = { ...asked, resource, context: { ...asked?.context, ...context } } as Request;
      const allowing = statementsFor(policyOf(`wallet-operate-${row.name}`), request);
      return allowing.length > 0 ? [] : [[call.section, call.text, permission.action]];
    }),
  );
  expect(refused).toEqual([]);
});
