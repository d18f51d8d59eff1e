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

/** Where `npm start` writes the outputs of this machine's environments, whatever folder a command runs in. */
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

/** `--environment`: one of the table, or a developer's copy, which the help does not list. */
export function environment(description: string): Option {
  const names = environments.map(({ name }) => name);
  const option = new Option('--environment <name>', description).choices(names);
  const { parseArg } = option;
  return option.argParser((name, previous) =>
    environmentNamed(name) ? name : parseArg?.(name, previous as never),
  );
}

/** An option with a duration such as `90s`, read into seconds. */
export function duration(
  flags: `--${string} <duration>`,
  description: string,
  { usual, most }: { readonly usual: string; readonly most: string },
): Option {
  const format = `90s, 5m, a number alone is seconds; at most ${most}`;
  return new Option(flags, `${description}: ${format}`)
    .default(parseDuration(usual), usual)
    .argParser((text: string) => {
      const seconds = parseDuration(text);
      if (seconds > 0 && seconds <= parseDuration(most)) return seconds;
      throw new InvalidArgumentError(`Give a duration: ${format}.`);
    });
}

const unitsInSeconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

/** @returns seconds; NaN for what is no duration */
function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|[smhd])?$/.exec(text) ?? [];
  return Number(number) * Number(unitsInSeconds[unit]);
}

/** Reads a time, in ISO 8601 or as an age such as `90s` or `2h`, into ISO 8601, UTC. */
export function time(text: string): string {
  const isDate = /^\d{4}-\d\d-\d\d(T|$)/.test(text);
  // A number alone may be meant as a date.
  const age = /[a-z]$/.test(text) ? parseDuration(text) : Number.NaN;
  const date = new Date(isDate ? text : Date.now() - age * 1_000);
  // Before 1970: a mistyped year, or an excessive age.
  if (date.getTime() >= 0) return date.toISOString();
  throw new InvalidArgumentError('Give a time such as 2026-11-20T12:00:00Z, or an age such as 2h.');
}

/** Reads the path of a file or a folder. An empty one is a variable of the shell that was not set. */
export function path(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Give a path: this one is empty.');
}

/** Reads a whole number. */
export const number = (least: number, most: number) => (text: string) => {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new InvalidArgumentError(`Give a number from ${least} to ${most}.`);
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
