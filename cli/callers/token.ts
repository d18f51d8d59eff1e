import type { Command } from 'commander';
import { accessTokenLifetime } from '../../lib/environments';
import { environmentCommand } from '../shell/environment-command';
import { id } from '../shell/options';
import type { Terminal } from '../shell/terminal';
import { readCallerClaims, signAccessToken } from './signing';

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<{ readonly caller: string }>(program, terminal, 'token', {
    summary: 'print an access token (JWT, ES256) for an identity',
    help: 'The token is valid for 15 minutes, or as long as the environment accepts one.',
    async run(target, { caller }, print) {
      const lifetime = Math.min(15 * 60, accessTokenLifetime(target.environment));
      const signed = await signAccessToken(target, await readCallerClaims(target, caller), lifetime);
      print(signed, () => signed.token);
    },
  }).requiredOption('--caller <id>', 'the identity: user or service account', id('us', 'sa'));
}
