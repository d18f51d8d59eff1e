import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { environmentNamed, environments } from '../lib/environments';

/** Which environment, and the file of its outputs. */
export interface EnvironmentOptions {
  readonly environment: string;
  readonly outputs: string;
}

/** Options that every command on an environment takes. */
export interface CommonOptions extends EnvironmentOptions {
  readonly json?: boolean;
}

/** Where `npm start` writes the outputs of this machine's environments, from whatever folder a command is run. */
export const localOutputs = resolve(__dirname, '../.local/outputs.json');

export const withOutputs = (command: Command) =>
  command
    .addOption(
      new Option('--outputs <file>', 'stack outputs, as "cdk deploy --outputs-file" writes them')
        .argParser(path)
        .default(localOutputs, 'those of this machine'),
    )
    .option('--json', 'print JSON');

export const withEnvironment = (command: Command) => withOutputs(command.addOption(environmentToWorkOn()));

/** `--environment`: the table's first unless another is given. */
export const environmentToWorkOn = () =>
  environment('the environment to work on').default(environments[0]?.name);

/** `--environment`, one of the table. */
export const environment = (description: string) =>
  withDevelopers(
    new Option('--environment <name>', description).choices(environments.map(({ name }) => name)),
  );

/** Beside the choices that the help lists, a developer's copy. */
function withDevelopers(option: Option): Option {
  const { parseArg } = option;
  return option.argParser((name, previous) =>
    environmentNamed(name) ? name : parseArg?.(name, previous as never),
  );
}

interface TimeBounds {
  readonly usual: string;
  /** @default - anything above zero */
  readonly atLeast?: string;
  readonly atMost: string;
}

/** Every duration of a command line: `500ms`, `90s`, `15m`, `1h` or `2d`, read into seconds; a number alone is seconds. */
export function time(
  flags: `--${string} <time>`,
  what: string,
  { usual, atLeast, atMost }: TimeBounds,
): Option {
  const [least = 0, most = 0] = [atLeast ?? '0', atMost].map(parseDuration);
  const bounds = atLeast === undefined ? `at most ${atMost}` : `from ${atLeast} to ${atMost}`;
  return new Option(flags, `${what}: 90s, 5m, a number alone is seconds; ${bounds}`)
    .default(parseDuration(usual), usual)
    .argParser((text: string) => {
      const seconds = parseDuration(text) ?? Number.NaN;
      if (seconds >= least && seconds <= most && (seconds > 0 || atLeast !== undefined)) return seconds;
      throw new InvalidArgumentError(
        `Give a time such as 90s or 5m, ${bounds}${atLeast === undefined ? ' and above zero' : ''}; a number alone is seconds.`,
      );
    });
}

/** Reads the path of a file or a folder. An empty one is a variable of the shell that was not set. */
export function path(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Give a path: this one is empty.');
}

/** Reads a TCP port. @param lowest 0 where it stands for any free port */
export const port =
  (lowest: 0 | 1) =>
  (text: string): number => {
    if (/^\d{1,5}$/.test(text) && Number(text) >= lowest && Number(text) <= 65_535) return Number(text);
    throw new InvalidArgumentError(`Give a port: a number from ${lowest} to 65535.`);
  };

const unitsInSeconds = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** @returns seconds; undefined for what is no duration */
function parseDuration(text: string): number | undefined {
  const [, number, unit = 's'] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|[smhd])?$/.exec(text) ?? [];
  return number === undefined
    ? undefined
    : Number(number) * unitsInSeconds[unit as keyof typeof unitsInSeconds];
}

/** Reads a moment: a time in ISO 8601, or how long ago it was, such as `90s`, `15m` or `2h`; into ISO 8601, UTC. */
export function moment(text: string): string {
  // A number alone may be meant as a date.
  const seconds = (/[a-z]$/.test(text) ? parseDuration(text) : undefined) ?? Number.NaN;
  // Before 1970 there was nothing: a year that was mistyped, or a duration out of all bounds.
  const written = /^\d{4}-\d\d-\d\d(T|$)/.test(text) ? text : Date.now() - seconds * 1_000;
  const time = new Date(written);
  if (time.getTime() >= 0) return time.toISOString();
  throw new InvalidArgumentError(
    'Give a time such as 2026-11-20T12:00:00Z, or how long ago it was, such as 2h.',
  );
}

/** Reads a number from 1 to `most`. */
export const count =
  (most: number) =>
  (text: string): number => {
    if (/^[1-9]\d*$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`Give a number from 1 to ${most}.`);
  };

/** Reads an id of the service, such as `us-xxxxx-xxxxx-xxxxxxxxxxxxxxxx`. */
export function id(...prefixes: readonly string[]) {
  const pattern = new RegExp(`^(${prefixes.join('|')})-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$`);
  return (text: string): string => {
    if (pattern.test(text)) return text;
    const examples = prefixes.map((prefix) => `${prefix}-xxxxx-xxxxx-xxxxxxxxxxxxxxxx`);
    throw new InvalidArgumentError(`Give an id such as ${examples.join(' or ')}.`);
  };
}
