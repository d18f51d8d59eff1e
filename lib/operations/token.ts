import type { Command } from 'commander';
import { findCaller } from './caller';
import { accessTokenClaims } from './claims';
import { type CommonOptions, expiresIn, id, withEnvironment } from './options';
import { printToken } from './print-token';
import { openSigningKey } from './signing-key';
import { openTarget } from './target';
import type { Terminal } from './terminal';

interface TokenOptions extends CommonOptions {
  readonly caller: string;
  /** Seconds. */
  readonly expiresIn: number;
}

const help = `
The token is signed by the environment's own key, in KMS: it needs kms:GetPublicKey and kms:Sign on
TokenSigningKeyArn, and lambda:InvokeFunction on OperationsFunctionName.

Examples:
  TOKEN=$(npm run -s wallet -- token --caller us-…)
  wallet token --environment uae --caller sa-… --expires-in 1h
  wallet token --caller us-… --json                      {"token":"…","expiresAt":"…"}`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('token'))
    .summary('print an access token of an identity')
    .description('Prints an access token (JWT, ES256) of an identity, for the Authorization header.')
    .requiredOption('--caller <id>', 'the identity: a user or a service account', id('us', 'sa'))
    .addOption(expiresIn({ usual: '15m', atMost: '24h' }))
    .addHelpText('after', help)
    .action((options: TokenOptions) => token(options, terminal));
}

async function token(options: TokenOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options);
  const [key, caller] = await Promise.all([
    openSigningKey(target, target.output('TokenSigningKeyArn')),
    findCaller(target, options.caller, terminal),
  ]);
  const claims = accessTokenClaims({
    issuer: target.environment.tokenIssuer,
    caller,
    issuedAt: Math.floor(Date.now() / 1000),
    lifetime: options.expiresIn,
  });
  printToken(await key.sign('JWT', claims), claims.exp, options, terminal);
}
