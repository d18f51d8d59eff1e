import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEvent } from '../../domain/event';
import { readAccountSettings } from '../../lib/account/settings';
import { projectRoot } from '../architecture/sources';
import { workflows } from '../ci/workspace';
import { useAccount } from '../cli/account';
import { writeAssembly } from '../cli/assembly';
import { readDocuments } from '../support/documents';
import { first } from '../support/rows';
import { stacks } from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet, walletCommands, writeOutputs } from '../support/wallet-command';
import { commandOf, documentedLines, operationOf, optionOf, runDocuments } from './calls';

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
