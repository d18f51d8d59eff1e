import { textOf } from '../support/region-api';
import { type Json, stacksOfShapes } from '../support/stacks';
import { accountResources, settingsOf } from './account-resources';

function statementsWithin(value: Json): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  return 'Effect' in value ? [value] : Object.values(value).flatMap(statementsWithin);
}

const withoutHash = (text: string) => text.replace(/(?<=\w)[0-9A-F]{8}(?=\W|$)|(?<=SigningKey)\d{6}/g, '');

/** Each statement in a line, with its owner. An ARN of the stack's own region and account begins with its service. */
const statementsOf = (resources: Readonly<Record<string, Json>>, region: string) => {
  const listOf = (value: Json): string => {
    const texts = [value].flat().map((each) =>
      textOf(each)
        .replaceAll(region, '{region}')
        .replaceAll('{AWS::Partition}', 'aws')
        .replaceAll('{AWS::AccountId}', '{account}')
        .replace(/^arn:aws:([\w-]+):\{region\}:\{account\}:/, '$1:')
        .replace(/wallet-\w+-\{.*?\}-(\d+-days)?/, (_, days) => (days ? '{days}' : '')),
    );
    return withoutHash(texts.sort().join(' '));
  };
  const lineOf = ({ Effect, Action, Resource, Principal = {}, Condition = {} }: Json) => {
    const conditions = Object.entries<Json>(Condition).flatMap(([operator, keys]) =>
      Object.entries(keys).map(([key, values]) => ` if ${operator} ${key} ${listOf(values)}`),
    );
    const principals = typeof Principal === 'string' ? [Principal] : Object.values(Principal);
    return [
      `${Effect} ${listOf(Action)}`,
      ...(Resource ? [` on ${listOf(Resource)}`] : []),
      ...principals.map((each) => ` by ${listOf(each)}`),
      ...conditions,
    ].join('');
  };
  return Object.entries(resources).flatMap(([id, { Properties }]) => {
    const [owner] = [Properties.Roles ?? Properties.Queues ?? { Ref: id }].flat();
    const name = withoutHash(textOf(owner).replace(/[{}]/g, '')).replace(/(Service)?Role$/, '');
    const handler = name.replace(/^(Webhooks|Probe)(?=[A-Z])/, '');
    const user = handler.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();
    const shorten = (line: string) =>
      line
        .replace(RegExp(`(?<=[{:])${name}|(?<=\\{Secret)${handler}|(?<=dbuser:.*)\\b${user}$`, 'g'), 'own')
        .replace(/(?<=SecretARN \{)Secret[A-Z]\w+/, 'any of these');
    return statementsWithin(Properties).map((each) => [name, shorten(lineOf(each))]);
  });
};

/** The values of each key, in order. */
function grouped(entries: readonly (readonly [key: string, value: string])[]) {
  const values = new Map<string, Set<string>>();
  for (const [key, value] of entries) values.set(key, (values.get(key) ?? new Set()).add(value));
  return Array.from(values, ([key, those]) => [key, [...those].sort().join(', ')] as const);
}

it('every statement of every policy is one of these, in stacks with each access to the database, and in standbys', () => {
  const found = stacksOfShapes().flatMap(([, { environment, json, listed, serves }]) => {
    const kind = serves ? environment.databaseAccess : 'standby';
    return statementsOf(json.Resources, listed.region).map((each) => [each.join('\n'), kind] as const);
  });
  const owners = grouped(
    grouped(found).map(([key, of]) => {
      const [owner = '', line] = key.split('\n');
      return [`(${of}): ${line}`, owner];
    }),
  );
  const lines = owners.map(([line, of]) => `${of} ${line}`);
  expect(lines.sort().join('\n')).toMatchSnapshot();
});

it('every statement of the roles of an account is one of these', () => {
  const resources = accountResources(settingsOf({ operators: 'OnCall' }));
  const lines = statementsOf(resources, 'any region').map((each) => each.join(': '));
  expect(lines.sort().join('\n')).toMatchSnapshot();
});
