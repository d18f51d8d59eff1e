import type { Command } from 'commander';
import { CommandFailed } from './failure';
import { type CommonOptions, withEnvironment } from './options';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';

export interface Definition<Options> {
  /** In the imperative, without a full stop. */
  readonly summary: string;
  /** Text below the options of --help. @default - none */
  readonly help?: string;
  /** Why the command requires --allow-production in a deployed environment with an SLA. @default - not required */
  readonly production?: string;
  /** @param print prints the result: the value with --json, the text otherwise */
  run(
    target: Target,
    options: Options & CommonOptions,
    print: (value: unknown, text: () => string) => void,
  ): Promise<void>;
}

/** Adds a command that works on one environment. */
export function environmentCommand<Options>(
  parent: Command,
  terminal: Terminal,
  name: string,
  { summary, help, production, run }: Definition<Options>,
): Command {
  const command = withEnvironment(parent.command(name))
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
  if (help) command.addHelpText('after', `\n${help}`);
  if (production) command.option('--allow-production', 'allow changes to a deployed environment with an SLA');
  return command.action(async (options: Options & CommonOptions & { readonly allowProduction?: boolean }) => {
    const target = await openTarget(options, terminal);
    const { local, environment } = target;
    if (production && !local && environment.serviceLevelAgreement && !options.allowProduction)
      throw new CommandFailed(
        `Environment ${environment.name} is in production: ${production}.`,
        'To proceed, add --allow-production.',
      );
    await run(target, options, (value, text) =>
      terminal.result(options.json ? JSON.stringify(value) : text()),
    );
  });
}
