import { type Command, InvalidArgumentError, Option } from 'commander';
import { environments } from '../environments';
import { shellWord } from './shell-word';

/** Options that every command on an environment takes. */
export interface CommonOptions {
  readonly environment: string;
  readonly outputs: string;
  readonly json?: boolean;
}

/** Where `npm start` writes the outputs of this machine's environments. */
const localOutputs = '.local/outputs.json';

export const withOutputs = (command: Command) =>
  command
    .option(
      '--outputs <file>',
      'stack outputs, as "npm start" and "cdk deploy --outputs-file" write them',
      localOutputs,
    )
    .option('--json', 'print JSON');

export const withEnvironment = (command: Command) => withOutputs(command.addOption(environmentToWorkOn()));

/** `--environment`: the table's first unless another is given. */
export const environmentToWorkOn = () =>
  environment('the environment to work on').default(environments[0]?.name);

/** `--environment`, one of the table. */
export const environment = (description: string) =>
  new Option('--environment <name>', description).choices(environments.map(({ name }) => name));

/** The options that lead another command to the same environment, to be pasted into a shell. */
export const sameEnvironment = ({ environment, outputs }: CommonOptions): string =>
  `--environment ${environment} --outputs ${shellWord(outputs)}`;

/** A time such as `90s`, `15m` or `1h`, read into seconds; a bare number is seconds. */
export function time(flags: string, what: string, text: { usual: string; atMost: string }): Option {
  return new Option(flags, `${what}, at most ${text.atMost}`)
    .default(parseDuration(text.usual), text.usual)
    .argParser((value: string) => {
      const seconds = parseDuration(value);
      if (seconds !== undefined && seconds > 0 && seconds <= (parseDuration(text.atMost) ?? 0))
        return seconds;
      throw new InvalidArgumentError(`Give a time such as 90s or 5m, of at most ${text.atMost}.`);
    });
}

/** Of commands that follow what takes minutes. Read into seconds. */
export const interval = (): Option =>
  new Option('--interval <seconds>', 'time between questions about the progress')
    .default(5)
    .argParser((text: string) => {
      const seconds = Number(text);
      if (seconds > 0 && seconds <= 60) return seconds;
      throw new InvalidArgumentError('Give a number of seconds, at most 60.');
    });

/** Reads a TCP port. @param lowest 0 where it stands for any free port */
export const port =
  (lowest: 0 | 1) =>
  (text: string): number => {
    if (/^\d{1,5}$/.test(text) && Number(text) >= lowest && Number(text) <= 65_535) return Number(text);
    throw new InvalidArgumentError(`Give a port: a number from ${lowest} to 65535.`);
  };

function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,6})([smh]?)$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  return Number(number) * (unit === 'h' ? 3600 : unit === 'm' ? 60 : 1);
}

/** Reads an id of the service, such as `us-xxxxx-xxxxx-xxxxxxxxxxxxxxxx`. */
export function id(...prefixes: readonly string[]) {
  const pattern = new RegExp(`^(${prefixes.join('|')})-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$`);
  return (text: string): string => {
    if (pattern.test(text)) return text;
    const examples = prefixes.map((prefix) => `${prefix}-xxxxx-xxxxx-xxxxxxxxxxxxxxxx`);
    throw new InvalidArgumentError(`Give an id such as ${examples.join(' or ')}.`);
  };
}
