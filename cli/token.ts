import type { Command } from 'commander';
import { accessTokenLifetime } from '../lib/environments';
import { environmentCommand } from './environment-command';
import { UsageError } from './failure';
import { duration, id } from './options';
import { readCallerClaims, signAccessToken } from './signing';
import type { Terminal } from './terminal';

interface TokenOptions {
  readonly caller: string;
  /** Seconds. */
  readonly expiresIn: number;
}

const help = `Examples:
  TOKEN=$(wallet local token --caller us-…)
  wallet local token --environment uae --caller sa-… --expires-in 1h
  wallet local token --caller us-… --json                      {"token":"…","expiresAt":"…"}`;

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<TokenOptions>(program, terminal, 'token', {
    summary: 'print an access token (JWT, ES256) of an identity',
    help,
    async run(target, { caller, expiresIn }, print) {
      const longest = accessTokenLifetime(target.environment);
      if (expiresIn > longest)
        throw new UsageError(
          `Environment ${target.environment.name} accepts access tokens of at most ${longest} s.`,
          `Give --expires-in ${longest}s or less.`,
        );
      const signed = await signAccessToken(target, await readCallerClaims(target, caller), expiresIn);
      print(signed, () => signed.token);
    },
  })
    .requiredOption('--caller <id>', 'the identity: a user or a service account', id('us', 'sa'))
    .addOption(
      duration('--expires-in <duration>', 'until it expires', { usual: '15m', least: '1s', most: '24h' }),
    );
}
