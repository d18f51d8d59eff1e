import type { Command } from 'commander';
import { accessTokenLifetime } from '../lib/environments';
import { UsedWrongly } from './failure';
import { type CommonOptions, id, time, withEnvironment } from './options';
import { printToken, readCallerClaims, signAccessToken } from './signing';
import { openTarget } from './target';
import type { Terminal } from './terminal';

interface TokenOptions extends CommonOptions {
  readonly caller: string;
  /** Seconds. */
  readonly expiresIn: number;
}

const help = `
Examples:
  TOKEN=$(wallet local token --caller us-…)
  wallet local token --environment uae --caller sa-… --expires-in 1h
  wallet local token --caller us-… --json                      {"token":"…","expiresAt":"…"}`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('token'))
    .summary('print an access token of an identity')
    .description('Prints an access token (JWT, ES256) of an identity, for the Authorization header.')
    .requiredOption('--caller <id>', 'the identity: a user or a service account', id('us', 'sa'))
    .addOption(
      time('--expires-in <time>', 'until it expires', { usual: '15m', atLeast: '1s', atMost: '24h' }),
    )
    .addHelpText('after', help)
    .action((options: TokenOptions) => token(options, terminal));
}

async function token(options: TokenOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  const longest = accessTokenLifetime(target.environment);
  if (options.expiresIn > longest) {
    throw new UsedWrongly(
      `The environment ${target.environment.name} accepts access tokens of ${longest} s at most, not of ${options.expiresIn} s.`,
      `Give --expires-in ${longest}s or less.`,
    );
  }
  const caller = await readCallerClaims(target, options.caller);
  printToken(await signAccessToken(target, caller, options.expiresIn), options, terminal);
}
