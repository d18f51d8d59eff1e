import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEvent } from '../../domain/event';
import { AccountStack } from '../../lib/account/account-stack';
import { readAccountSettings } from '../../lib/account/settings';
import { inForce } from '../../lib/environment/schema';
import { resourceControlPolicy, serviceControlPolicy } from '../../lib/guardrails/policies';
import { projectRoot } from '../architecture/sources';
import { workflows } from '../ci/workspace';
import { useAccount } from '../cli/account';
import { writeAssembly } from '../cli/assembly';
import { permissionsFor } from '../constructs/documented-permissions';
import { account as accountId, guarded, requestsOfCall } from '../guardrails/requests';
import { readDocuments } from '../support/documents';
import { type Request, statementsFor } from '../support/policy-evaluator';
import { complete as completeRow, first, serving, withStandby } from '../support/rows';
import { type Json, stackOf, withApp } from '../support/stacks';
import { stacks } from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet, walletCommands, writeOutputs } from '../support/wallet-command';
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

/** The options among words that nobody has. */
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

const readJson = (path: string) => JSON.parse(readFileSync(join(projectRoot, path), 'utf8'));
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

/** The options of a command. */
function lookUp([first = '', second = '']: readonly string[]) {
  const paths = [`${first} ${second}`, first, `local ${first}`];
  const [, found] = walletCommands.find(([path]) => paths.includes(path)) ?? [];
  if (!found) throw new Error(`There is no command "${first} ${second}".`);
  return found.options;
}

const account = useAccount();
const folder = temporaryFolder();
const output = (url: string) => ({
  ApiBaseUrl: url,
  OperationsFunctionName: 'operations',
  WebhookEventsQueueUrl: 'events',
  WebhookOriginAddress: '203.0.113.7',
  WebhookOriginReserveAddress: '203.0.113.8',
});
const placeholders: readonly (readonly [RegExp, string])[] = [
  [/^(\w\w)-…$/g, '$1-aaaaa-bbbbb-cccccccccccccccc'],
  [/^NAME$/, first.name],
  [/^TIME$/, '2h'],
  [/^N$/, '1'],
];
const files = ['--outputs', '--write'];
// A mention of a command is not a call of it, and `receive` waits for requests.
const complete = callsOf('./wallet').filter(
  (words) =>
    words[1] !== 'receive' &&
    words[0] !== '--help' &&
    (words.some((word) => word.startsWith('--')) || !lookUp(words).some(({ mandatory }) => mandatory)),
);
it.each(complete.map((words) => [words.join(' '), words] as const))(
  './wallet %s works, up to its first call',
  async (command, documented) => {
    account().answer({});
    const all = Object.fromEntries(stacks.map(({ stackId }) => [stackId, output(account().url)]));
    const isLocal = !documented.includes('--outputs') && !command.includes('origin');
    const endpoints = Object.fromEntries(['kms', 'lambda', 'sqs'].map((service) => [service, account().url]));
    const outputs = writeOutputs(folder(), all, isLocal ? endpoints : undefined);
    writeAssembly(folder(), { Resources: {} }, stacks);
    const words = documented
      .filter((word, index) => ![word, documented[index - 1] ?? ''].some((each) => files.includes(each)))
      .map((word) => placeholders.reduce((so, [pattern, value]) => so.replace(pattern, value), word));
    const flags = lookUp(words).map(({ long }) => long);
    if (flags.includes('--outputs')) words.push('--outputs', outputs);
    if (flags.includes('--assembly')) words.push('--assembly', folder());
    const { exitCode, stderr } = await runWallet(words);
    // AWS refuses the call.
    const called = account().calls.length > 0;
    expect({ stderr, works: exitCode === 0 || (exitCode === 1 && called) }).toEqual({ stderr, works: true });
  },
);

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

it('operating.md names the commands that need no outputs file', () => {
  const [, named = ''] = /The commands (.*) need no such file/.exec(page('operating')) ?? [];
  const without = walletCommands.filter(([, { options }]) =>
    options.every(({ long }) => long !== '--outputs'),
  );
  expect((named.match(/(?<=`)[a-z]+(?=`)/g) ?? []).sort()).toEqual(without.map(([path]) => path).sort());
});

const procedures = ['emergencies', 'planned-work'].map((page) => `docs/runbook/${page}.md`);
const sections = documents
  .filter(({ path }) => procedures.includes(path))
  .flatMap((document) => sectionsIn(document).map((section) => ({ path: document.path, ...section })))
  .filter(({ heading }) => heading !== '');
const made = documentedCalls();

it.each(sections)('$path, $heading, names the role that does it', ({ role }) => {
  expect(roles).toContain(role);
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
const accountTemplate: Json = withApp((app) => {
  const settings = { repository: 'owner/name', operators: 'OnCall', adoptProvider: false };
  new AccountStack(app, { ...settings, environments: [withStandby], region: withStandby.region });
  return app.synth().getStackByName(AccountStack.stackId).template;
});
const references: Readonly<Record<string, string>> = { 'AWS::Partition': 'aws', 'AWS::AccountId': accountId };
const resources = JSON.parse(JSON.stringify(accountTemplate.Resources), (_, value) => {
  if (value?.['Fn::Join']) return value['Fn::Join'][1].join('');
  return references[value?.Ref] ?? value;
});
const policyOf = (roleName: string): Json =>
  Object.values<Json>(resources).find(({ Properties }) => Properties.RoleName === roleName).Properties
    .Policies[0].PolicyDocument;

const sides = [completeRow, serving(completeRow)].map((row) => ({ row: inForce(row), stack: stackOf(row) }));

/** A resource as docs/operating.md names it, in a stack that serves, with the tags that policies read. */
function resourceIn(
  { row, stack }: (typeof sides)[number],
  { action, resource }: { action: string; resource: string },
) {
  const { region, stackId } = row;
  const [service = ''] = action.split(':');
  const arn = (of: string, name: string) => `arn:aws:${of}:${region}:${accountId}:${name}`;
  const [, output = ''] = /^`(\w+)`$/.exec(resource) ?? [];
  if (output) {
    const { Value } = stack.json.Outputs[output];
    const { Type, logicalId, Properties } = stack.get(Value.Ref ?? Value['Fn::GetAtt'][0]);
    // CloudFormation joins stack name, logical id and random letters.
    const name = `${stackId}-${logicalId}-ABC`;
    if (Type === 'AWS::Lambda::Function') return { resource: arn('lambda', `function:${name}`) };
    if (Type === 'AWS::SQS::Queue') return { resource: arn('sqs', name) };
    const tags = Properties.Tags.map((tag: Json) => [`aws:ResourceTag/${tag.Key}`, tag.Value]);
    return { resource: arn('kms', 'key/mrk-0123'), context: Object.fromEntries(tags) };
  }
  if (resource === 'the stack') return { resource: arn('cloudformation', `stack/${stackId}/0123`) };
  if (resource.includes('/cdk-bootstrap/'))
    return { resource: arn('ssm', 'parameter/cdk-bootstrap/hnb659fds/version') };
  const named: Readonly<Record<string, string>> = {
    sqs: arn('sqs', `${stackId}-WebhooksQueue-ABC`),
    lambda: arn('lambda', 'event-source-mapping:0123'),
  };
  return { resource: named[service] ?? '*' };
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
      const isAllowed = statementsFor(policyOf(`wallet-operate-${row.name}`), request).length > 0;
      return isAllowed && !isDenied(request) ? [] : [[call.section, call.text, permission.action]];
    }),
  );
  expect(refused).toEqual([]);
});
