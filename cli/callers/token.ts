import { type Command, InvalidArgumentError } from 'commander';
import { accessTokenLifetime } from '../../lib/environments';
import { environmentCommand } from '../shell/deployed-environment';
import { id } from '../shell/options';
import type { Terminal } from '../shell/terminal';
import { readCallerClaims, type SignedRequest, signAccessToken, signUserAction } from './signing';

export function registerToken(program: Command, terminal: Terminal): void {
  environmentCommand<{ readonly caller: string }>(program, terminal, 'token', {
    summary: 'print an access token (JWT, ES256) for an identity',
    help: "The token is valid for 15 minutes, or less, if the environment's limit is shorter.",
    production: 'nobody can revoke an access token',
    async run(target, { caller }, print) {
      const lifetime = Math.min(15 * 60, accessTokenLifetime(target.environment));
      const signed = await signAccessToken(target, await readCallerClaims(target, caller), lifetime);
      print(signed, () => signed.token);
    },
  }).requiredOption('--caller <id>', 'the identity: user or service account', id('us', 'sa'));
}

export function registerUserAction(program: Command, terminal: Terminal): void {
  environmentCommand<SignedRequest & { readonly caller: string }>(program, terminal, 'user-action', {
    summary: 'print the user action signature (JWT, ES256) of a request',
    help: 'The signature is valid for five minutes, once, for this caller, method, path and body only.',
    production: 'nobody can revoke a user action signature',
    async run(target, { caller, ...request }, print) {
      const claims = await readCallerClaims(target, caller);
      const signed = await signUserAction(target, claims, request);
      print(signed, () => signed.token);
    },
  })
    .requiredOption('--caller <id>', 'the identity that sends the request', id('us', 'sa'))
    .requiredOption('--method <method>', "the request's method, such as DELETE", method)
    .requiredOption('--path <path>', 'its path after the base URL, without query', path)
    .option('--body <text>', 'its body', '');
}

function method(text: string): string {
  const upper = text.toUpperCase();
  if (/^(DELETE|PATCH|POST|PUT)$/.test(upper)) return upper;
  throw new InvalidArgumentError(
    'Give DELETE, PATCH, POST or PUT: only requests that change state need a user action.',
  );
}

function path(text: string): string {
  // The characters of a path (RFC 3986, section 3.3).
  if (/^(\/([\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)+\/?$/.test(text)) return text;
  throw new InvalidArgumentError('Give a path such as /auth/user-groups/ug-…, without base URL or query.');
}
