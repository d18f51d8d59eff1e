import { parseEvent } from '../../domain/event';
import { readAccountSettings } from '../../lib/account/settings';
import { workflows } from '../ci/workspace';
import { useAccount } from '../cli/account';
import { writeAssembly } from '../cli/assembly';
import { readDocuments } from '../support/documents';
import { first } from '../support/rows';
import { stacks } from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet, walletCommands, writeOutputs } from '../support/wallet-command';

const documents = readDocuments();
const page = (name: string) => documents.find(({ path }) => path === `docs/${name}.md`)?.text ?? '';
const current = documents.filter(({ path }) => path !== 'CHANGELOG.md').map(({ text }) => text);
const commands = new Set(current.join('\n').match(/(?<=\.\/wallet )[a-z][^`\n#]*/g));

/** The options of a command. */
function lookUp(command: string) {
  const [, first = '', second = ''] = /^([a-z-]+)(?: ([a-z-]+))?/.exec(command) ?? [];
  const paths = [`${first} ${second}`, first, `local ${first}`];
  const [, found] = walletCommands.find(([path]) => paths.includes(path)) ?? [];
  if (!found) throw new Error(`There is no command "${command}".`);
  return found.options;
}

const account = useAccount();
const folder = temporaryFolder();
const output = (url: string) => ({
  ...{ ApiBaseUrl: url, OperationsFunctionName: 'operations', WebhookEventsQueueUrl: 'events' },
  ...{ WebhookOriginAddress: '203.0.113.7', WebhookOriginReserveAddress: '203.0.113.8' },
});
const placeholders: readonly (readonly [RegExp, string])[] = [
  [/\b(\w\w)-…/g, '$1-aaaaa-bbbbb-cccccccccccccccc'],
  [/\bNAME\b/g, first.name],
  [/\bTIME\b/g, '2h'],
  [/--zone N\b/g, '--zone 1'],
  [/(--(outputs|write)|>) \S+\.json/g, ''],
];
// A mention of a command is not a call of it, and `receive` waits for requests.
const complete = [...commands].filter(
  (command) =>
    !command.includes('local receive') &&
    (command.includes(' --') || !lookUp(command).some(({ mandatory }) => mandatory)),
);
it.each(complete)('./wallet %s works, up to its first call', async (command) => {
  account().answer({});
  const all = Object.fromEntries(stacks.map(({ stackId }) => [stackId, output(account().url)]));
  const isLocal = !command.includes('--outputs') && !command.includes('origin');
  const endpoints = Object.fromEntries(['kms', 'lambda', 'sqs'].map((service) => [service, account().url]));
  const outputs = writeOutputs(folder(), all, isLocal ? endpoints : undefined);
  writeAssembly(folder(), { Resources: {} }, stacks);
  const text = placeholders.reduce((so, [pattern, value]) => so.replace(pattern, value), command);
  const words = (text.match(/'[^']*'|[^\s']+/g) ?? []).map((word) => word.replace(/^'|'$/g, ''));
  const flags = lookUp(command).map(({ long }) => long);
  if (flags.includes('--outputs')) words.push('--outputs', outputs);
  if (flags.includes('--assembly')) words.push('--assembly', folder());
  const { exitCode, stderr } = await runWallet(words);
  // AWS refuses the call.
  const called = account().calls.length > 0;
  expect({ stderr, works: exitCode === 0 || (exitCode === 1 && called) }).toEqual({ stderr, works: true });
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

it('operating.md names the commands that need no outputs file', () => {
  const [, named = ''] = /The commands (.*) need no such file/.exec(page('operating')) ?? [];
  const without = walletCommands.filter(([, { options }]) =>
    options.every(({ long }) => long !== '--outputs'),
  );
  expect((named.match(/(?<=`)[a-z]+(?=`)/g) ?? []).sort()).toEqual(without.map(([path]) => path).sort());
});
