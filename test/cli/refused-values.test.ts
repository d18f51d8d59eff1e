import type { Command, Option } from 'commander';
import { createProgram } from '../../cli/program';
import { printable } from '../../domain/printable';
import { wallet } from './region';

interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

const leaves = (command: Command, path: readonly string[] = []): readonly Leaf[] => [
  { path, command },
  ...command.commands.flatMap((each) => leaves(each, [...path, each.name()])),
];

const silent = { result() {}, note() {}, bold: String, bad: String, alarm: String };
const options = leaves(createProgram(silent)).flatMap(({ path, command }) =>
  command.options
    .filter(({ required }) => required)
    .map((option) => [`${path.join(' ')} ${option.flags}`, path, option] as const),
);

/** What an option's placeholder does not stand for. One that has choices refuses all else. */
const refused: Readonly<Record<string, readonly string[]>> = {
  file: [''],
  folder: [''],
  id: ['', 'a.b', '../..', "us-aaaaa-bbbbb-cccccccccccccccc'", 'a'.repeat(65)],
  json: ['', '{a:1}', '{'],
  kind: ['', 'a b', '.a', 'a'.repeat(129)],
  kinds: ['', 'a,,b', 'a, b'],
  moment: ['', 'soon', '-1s', '1h30m', '999999d', '2026-13-01', '20261120', '0001-01-01'],
  method: ['', 'GET', 'DELETE /'],
  number: ['', '0', '-1', '1.5', '1e3', '0x1', 'one', '9999999999'],
  path: ['', 'auth', '/a?b=c', '/a#b', 'https://a.example/b', '/a b'],
  port: ['', '-1', '1.5', '65536', '0x50', 'http'],
  secret: ['', 'secret', 'whsec_', 'whsec_a b'],
  status: ['', '99', '600', '204.0', 'ok'],
  time: ['', '-1s', '5x', '5 m', '1h30m', '1e3', '0x10', 'Infinity', 'soon', '999999d'],
  url: ['', 'hooks.customer.com', 'ftp://hooks.customer.com/', 'javascript:0'],
};
/** Any text is right for them. */
const unbounded = ['--body'];
/** They are not repeated, lest a screen or a log keep them. */
const silently = ['--secret'];

const placeholderOf = ({ flags }: Option) => /<(.+)>$/.exec(flags)?.[1] ?? '';
const valuesOf = (option: Option) =>
  option.argChoices ? ['', 'nope', `${option.argChoices[0]} `] : (refused[placeholderOf(option)] ?? []);

it('there are options of every kind', () => {
  const placeholders = new Set(options.map(([, , option]) => placeholderOf(option)));
  expect(Object.keys(refused).filter((placeholder) => !placeholders.has(placeholder))).toEqual([]);
});

describe.each(options)('wallet %s', (_, path, option) => {
  const flag = String(option.long);
  if (unbounded.includes(flag)) return;

  it('refuses what it cannot be, before anything is done: exit code 2, and names option and value', async () => {
    expect(valuesOf(option)).not.toEqual([]);
    for (const value of valuesOf(option)) {
      const { exitCode, stdout, stderr } = await wallet(...path, `${flag}=${value}`);
      expect({ value, exitCode, stdout }).toEqual({ value, exitCode: 2, stdout: '' });
      const named = silently.includes(flag)
        ? `error: ${flag} `
        : `error: option '${option.flags}' argument '${printable(value)}' is invalid. `;
      expect(stderr).toContain(named);
    }
  });
});

const times = options.filter(([, , option]) => placeholderOf(option) === 'time');

it.each(times)(
  'a time is the same in wallet %s: its usual one, its bounds, a number alone',
  (_, __, option) => {
    const read = (text: string) => option.parseArg?.(text, undefined);
    expect(option.description).toMatch(
      /: 90s, 5m, a number alone is seconds; (at most|from \w+ to) \d+[mh]$/,
    );
    expect(read(String(option.defaultValueDescription))).toBe(option.defaultValue);
    expect([read('2s'), read('2'), read('2000ms'), read('1.5s'), read('0.5m')]).toEqual([2, 2, 2, 1.5, 30]);
    const most = /(\d+[mh])$/.exec(option.description)?.[1] ?? '';
    expect(read(most)).toBe(Number.parseInt(most, 10) * (most.endsWith('h') ? 3_600 : 60));
    expect(() => read(`${most.slice(0, -1)}.01${most.slice(-1)}`)).toThrow('a number alone is seconds');
  },
);

it('no option takes a duration otherwise', () => {
  const others = options.filter(
    ([, , option]) =>
      placeholderOf(option) !== 'time' && /second|minute|hour|\btime\b|how long/.test(option.description),
  );
  expect(others.map(([name]) => name)).toEqual([]);
});
