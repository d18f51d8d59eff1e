import { type Command, InvalidArgumentError } from 'commander';
import { type CommonOptions, id, time, withEnvironment } from './options';
import { printToken, readCallerClaims, type SignedRequest, signUserAction } from './signing';
import { openTarget } from './target';
import type { Terminal } from './terminal';

interface UserActionOptions extends CommonOptions, SignedRequest {
  readonly caller: string;
}

const help = `
A user action signs one request: another caller, method, path or body is refused, and so is a second use.

Examples:
  ACTION=$(wallet local user-action --caller us-… --method DELETE --path /auth/user-groups/ug-…)
  wallet local user-action --environment uae --caller sa-… --method DELETE --path /auth/user-groups/ug-… --expires-in 60s`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('user-action'))
    .summary('print the user action signature of a request')
    .description(
      'Prints the user action signature (JWT, ES256) of one request, for the X-SVC-USERACTION header.',
    )
    .requiredOption('--caller <id>', 'the identity that sends the request', id('us', 'sa'))
    .requiredOption('--method <method>', "the request's method, such as DELETE", method)
    .requiredOption('--path <path>', 'its path, as it follows the base address, without a query', path)
    .option('--body <text>', 'its body', '')
    .addOption(time('--expires-in <time>', 'until it expires', { usual: '5m', atLeast: '1s', atMost: '5m' }))
    .addHelpText('after', help)
    .action((options: UserActionOptions) => printUserAction(options, terminal));
}

async function printUserAction(options: UserActionOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  const caller = await readCallerClaims(target, options.caller);
  printToken(await signUserAction(target, caller, options), options, terminal);
}

/** User actions sign requests that change state; the others need none. */
const methods = ['DELETE', 'PATCH', 'POST', 'PUT'];

function method(text: string): string {
  const upper = text.toUpperCase();
  if (methods.includes(upper)) return upper;
  throw new InvalidArgumentError(`Give the method of a request that changes state: ${methods.join(', ')}.`);
}

function path(text: string): string {
  if (/[?#]/.test(text))
    throw new InvalidArgumentError('The path is signed without query and fragment: leave them out.');
  if (/^https?:/i.test(text)) throw new InvalidArgumentError('Give the path only, without the base address.');
  // The characters of a path (RFC 3986, section 3.3).
  if (/^(\/([\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)+\/?$/.test(text)) return text;
  throw new InvalidArgumentError('Give a path that begins with "/", such as /auth/user-groups/ug-…');
}
