import { readDocuments } from '../support/documents';
import { complete } from '../support/rows';
import { synthesizeEveryStack } from '../support/stacks';

const stacks = Object.values(synthesizeEveryStack([complete]));
const alarms = stacks.flatMap((stack) =>
  [...stack.all('AWS::CloudWatch::Alarm'), ...stack.all('AWS::CloudWatch::CompositeAlarm')].map(
    ({ Properties, Condition }) => ({
      ...{ name: Properties.AlarmName.replace(`${stack.name}-`, '') as string, isConditional: !!Condition },
      firesWithoutData: Properties.TreatMissingData === 'breaching',
    }),
  ),
);
const names = alarms.map(({ name }) => name);
const graphs = stacks.flatMap((stack) => {
  const bodies = JSON.stringify(stack.all('AWS::CloudWatch::Dashboard')).replace(/\\+"/g, '"');
  return Array.from(bodies.matchAll(/"title":"(.*?)"/g), ([, title = '']) => title);
});

const documents = readDocuments()
  .filter(({ path }) => path !== 'CHANGELOG.md')
  .map(({ path, text }) => ({ path, text: text.replace(/\s+/g, ' ') }));
const inRunbook = documents.filter(({ path }) => /runbook/.test(path));
const find = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found = '']) => found);
const spans = (text: string) => find(text, /`([^`]+)`/g).map((span) => span.replace(/^Wallet[A-Za-z]+-/, ''));

it('the runbook names graphs as the CloudWatch dashboard does, in italics', () => {
  const named = inRunbook.flatMap(({ text }) => find(text, /(?<![*\w])\*([A-Z][^*]+)\*(?![*\w])/g));
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((title) => !graphs.includes(title))).toEqual([]);
});

it.each(documents)(
  '$path names alarms that exist, and does not say that one fires for each event',
  ({ text }) => {
    const list = /\balarms? ((?:`[^`]+`(?:,? (?:and|or) |, )?)+)/g;
    const named = [...find(text, list).flatMap(spans), ...find(text, /`([a-z-]+)` (?:too )?fires\b/g)];
    expect(named.filter((name) => !names.includes(name))).toEqual([]);
    // "the alarms on capacity and connections"
    const subjects = find(text, /\balarms on ([a-z, ]+)/g).flatMap((words) => words.match(/[a-z]+/g) ?? []);
    const isAlarm = (word: string) => names.some((name) => name.split('-').includes(word));
    expect(subjects.filter((word) => word !== 'and' && !isAlarm(word))).toEqual([]);
    // An alarm acts when its state changes:
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
    expect(text).not.toMatch(/\bfires (?:for|with|at) (?:each|every)\b/);
  },
);

it('lists that say what fires without data, as in a new stack, are complete', () => {
  const expected = alarms.filter((alarm) => alarm.firesWithoutData && !alarm.isConditional);
  const sentences = documents.flatMap(({ text }) =>
    text.split(/(?<=[.:]) (?=[A-Z*])/).filter((each) => /\bnew stack\b|\bwithout data\b/i.test(each)),
  );
  const lists = sentences
    .map((each) => spans(each).filter((name) => names.includes(name)))
    .filter((list) => list.length > 0);
  expect(lists.length).toBeGreaterThan(0);
  for (const list of lists) expect(list.sort()).toEqual(expected.map(({ name }) => name).sort());
});
