import type { Command } from 'commander';
import { type CommonOptions, withEnvironment } from './options';
import { allowProduction, requireProductionAllowed } from './production-guard';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';

export interface Definition<Options> {
  /** In the imperative, without a full stop. */
  readonly summary: string;
  /** What --help prints below the options: remarks, then examples. */
  readonly help: string;
  /** Requires --allow-production: what the command does there, as `requireProductionAllowed` says it. */
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
  if (production) command.addOption(allowProduction());
  return command.action(async (options: Options & CommonOptions & { readonly allowProduction?: boolean }) => {
    const target = await openTarget(options, terminal);
    if (production) requireProductionAllowed(target, options, production);
    await run(target, options, (value, text) =>
      terminal.result(options.json ? JSON.stringify(value) : text()),
    );
  });
}
