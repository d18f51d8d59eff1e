import type { Command } from 'commander';
import { accessTokenLifetime } from '../lib/environments';
import { environmentCommand } from './environment-command';
import { UsageError } from './failure';
import { duration, id } from './options';
import { readCallerClaims, signAccessToken } from './signing';
import type { Terminal } from './terminal';

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<{ readonly caller: string; readonly expiresIn: number }>(program, terminal, 'token', {
    summary: 'print an access token (JWT, ES256) for an identity',
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
    .requiredOption('--caller <id>', 'the identity: user or service account', id('us', 'sa'))
    .addOption(duration('--expires-in <duration>', 'lifetime', { usual: '15m', most: '24h' }));
}
