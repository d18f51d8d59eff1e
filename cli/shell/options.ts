import { type Command, InvalidArgumentError, Option } from 'commander';
import { beginsWithDay } from '../../domain/time';
import { environments, stacks } from '../../lib/environments';
import { type EnvironmentOptions, localOutputs } from './wallet-command';

export interface CommonOptions extends EnvironmentOptions {
  readonly json?: boolean;
}

export const withOutputs = (command: Command) =>
  command
    .addOption(
      new Option('--outputs <file>', 'the outputs file, as written by "cdk deploy --outputs-file"')
        .argParser(path)
        .default(localOutputs, "this machine's"),
    )
    .option('--json', 'print JSON');

export const withEnvironment = (command: Command) => withOutputs(command.addOption(environmentToWorkOn()));

export const environmentToWorkOn = () => environment('the environment').default(environments[0]?.name);

export const environment = (description: string): Option =>
  new Option('--environment <name>', description).choices(environments.map(({ name }) => name));

export const stackOption = (description: string): Option =>
  new Option('--stack <name>', description).choices(stacks.map(({ stackId }) => stackId));

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Converts ISO 8601, or an age such as `90s` or `2h`, to ISO 8601 in UTC. */
export function time(text: string): string {
  const isDate = /^\d{4}-\d\d-\d\d(T|$)/.test(text) && beginsWithDay(text);
  // An age needs a unit: a bare number may be meant as a date.
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d{1,6})?)([smhd])$/.exec(text) ?? [];
  const age = Number(number) * Number(secondsIn[unit]);
  const date = new Date(isDate ? text : Date.now() - age * 1_000);
  // Before 1970: a mistyped year, or an excessive age.
  if (date.getTime() >= 0) return date.toISOString();
  throw new InvalidArgumentError('Give a time such as 2026-11-20T12:00:00Z, or an age such as 2h.');
}

/** Refuses an empty path: an unset shell variable. */
export function path(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Give a path that is not empty.');
}

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
