import type { Command } from 'commander';
import { accessToken } from '../domain/tokens';
import { accessTokenLifetime } from '../lib/environments';
import { type CallerClaims, readCallerClaims } from './caller-claims';
import { UsedWrongly } from './failure';
import { type CommonOptions, id, time, withEnvironment } from './options';
import { printToken, type SignedToken } from './signed-token';
import { openSigningKey } from './signing-key';
import { openTarget, type Target } from './target';
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
  const caller = () => readCallerClaims(target, options.caller, terminal);
  const signed = await signAccessToken(target, caller, options.expiresIn);
  printToken(signed, options, terminal);
}

/**
 * Has the region's key sign an access token.
 *
 * @param lifetime seconds, at most a day
 */
export async function signAccessToken(
  target: Target,
  caller: () => Promise<CallerClaims>,
  lifetime: number,
): Promise<SignedToken> {
  const [key, callerClaims] = await Promise.all([
    openSigningKey(target, target.output('TokenSigningKeyArn')),
    caller(),
  ]);
  const iat = Math.floor(Date.now() / 1000);
  const exp = iat + Math.floor(lifetime);
  const claims = {
    iss: target.environment.tokenIssuer,
    aud: accessToken.audience,
    ...callerClaims,
    iat,
    nbf: iat,
    exp,
  };
  return { token: await key.sign(accessToken.type, claims), expiresAt: exp };
}
