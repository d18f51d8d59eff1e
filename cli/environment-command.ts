import type { Command } from 'commander';
import { CommandFailed } from './failure';
import { type CommonOptions, withEnvironment } from './options';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';

export interface Definition<Options> {
  /** In the imperative, without a full stop. */
  readonly summary: string;
  /** What --help prints below the options: remarks, then examples. */
  readonly help: string;
  /**
   * What the command does there that must not happen by mistake: in a deployed environment with an SLA, it requires
   * --allow-production.
   */
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
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .addHelpText('after', `\n${help}`);
  if (production) command.option('--allow-production', 'write to a deployed environment that has an SLA');
  return command.action(async (options: Options & CommonOptions & { readonly allowProduction?: boolean }) => {
    const target = await openTarget(options, terminal);
    const { local, environment } = target;
    if (production && !local && environment.serviceLevelAgreement && !options.allowProduction)
      throw new CommandFailed(
        `Environment ${environment.name} is in production: ${production}.`,
        'Add --allow-production if that is what you want.',
      );
    await run(target, options, (value, text) =>
      terminal.result(options.json ? JSON.stringify(value) : text()),
    );
  });
}
