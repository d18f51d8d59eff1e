import { CommandFailed } from './failure';
import { startCommand } from './pasted-command';
import type { Target } from './target';

/** Milliseconds for a call with its retries: a paused database cluster may need half of it to wake. */
const deadline = 60_000;

/** Whose calls they are, for what is said of a failure. `output`: of a target from an outputs file. */
export type Caller = Pick<Target, 'environment' | 'local'> & Partial<Pick<Target, 'output'>>;

/** AWS refused a call, or did not answer it; `errorName` is the SDK's, such as `ResourceNotFoundException`. */
export class AwsCallFailed extends CommandFailed {
  constructor(
    readonly errorName: string,
    message: string,
    remedy: string,
  ) {
    super(message, remedy);
  }
}

/**
 * Makes one call to AWS with a deadline. A failure says what AWS said, and what an operator can do about it.
 *
 * @param action the permission that the call needs, such as `kms:Sign`.
 * @throws AwsCallFailed
 */
export async function callAws<T>(
  target: Caller,
  action: string,
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const abortSignal = AbortSignal.timeout(deadline);
  try {
    return await call({ abortSignal });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (abortSignal.aborted)
      throw new AwsCallFailed(
        error.name,
        `${action} was not answered within ${deadline / 1000} s.`,
        'It may have succeeded; check before retrying.',
      );
    throw explain(error, action, target);
  }
}

/** @returns undefined when AWS refuses the call by an error of this name */
export async function unlessRefused<T>(errorName: RegExp, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AwsCallFailed && errorName.test(error.errorName)) return undefined;
    throw error;
  }
}

/** What an answer of AWS always has. @throws AwsCallFailed when it has not: something else answered */
export function required<T>(action: string, name: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new AwsCallFailed(
    'Unknown',
    `${action} was not answered as AWS answers: without ${name}.`,
    proxyRemedy,
  );
}

/** A stack that is missing, for every command: CloudFormation has no error of its own for it. */
export const noStack = (name: string) =>
  new AwsCallFailed(
    'ValidationError',
    `There is no stack ${name} in the account and the region that were asked.`,
    'Deploy it, or sign in to the account that has it.',
  );

/** An error as the SDK throws it: `$fault` on what a service refused, `$response` on what it could not read. */
type SdkError = Error & {
  readonly code?: string;
  readonly errors?: readonly Error[];
  readonly $fault?: 'client' | 'server';
  readonly $response?: { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> };
};

const proxyRemedy =
  'A proxy, the sign-in page of a network, or another server behind AWS_ENDPOINT_URL answered. Sign in to the network, or have the proxy let AWS through.';

function explain(error: SdkError, action: string, { environment, local, output }: Caller): Error {
  const { name, code = '', $fault, $response } = error;
  const failed = (message: string, remedy: string) => new AwsCallFailed(name, `${message}.`, remedy);
  const start = `Start it: ${startCommand}`;
  // An answer that names no error, that cannot be read, or whose checksum is of another message.
  if (
    name === 'Unknown' ||
    ($response && !$fault && !code) ||
    /^Invalid ?(MD5 )?checksum/i.test(error.message)
  ) {
    const { statusCode = 200, headers = {} } = $response ?? {};
    const type = headers['content-type']?.split(';')[0] || 'no content type';
    return failed(
      `${action} was not answered as AWS answers: status ${statusCode}, ${type}`,
      local ? `Another program has the port of the environment. ${start}` : proxyRemedy,
    );
  }
  const remedy = remedies.find(([names]) => names.test(code) || names.test(name))?.[1];
  if (!remedy && !$fault && !code) return error;
  if (local && code === 'ECONNREFUSED')
    return failed(`Environment ${environment.name} is not running on this machine`, start);
  const said = brief(error);
  const [, stack] = /^Stack with id (\S+) does not exist$/.exec(said) ?? [];
  if (name === 'ValidationError' && stack) return noStack(stack);
  const message = `${action} failed: ${$fault ? `${name}: ` : ''}${said}`;
  if (remedy) return failed(message, remedy.replace('ACTION', action));
  if ($fault === 'client')
    return failed(
      message,
      `Check ${output ? 'that the outputs file is of this deployment, and ' : ''}the account that you are signed in to.`,
    );
  return failed(
    message,
    $fault
      ? 'AWS server error: try again in a minute, and see the AWS Health Dashboard.'
      : 'Check the network: a firewall, a proxy or a missing VPN lets nothing through.',
  );
}

/**
 * By the names of AWS's errors, which differ between services, and of Node's.
 * https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html,
 * https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html,
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html,
 * https://nodejs.org/api/tls.html#x509-certificate-error-codes
 */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/^(AccessDenied|UnauthorizedOperation)/, 'Sign in as someone who has ACTION.'],
  [
    /^(CredentialsProviderError|TokenProviderError)$/,
    'Sign in to the account (such as "aws sso login") and name the profile in AWS_PROFILE.',
  ],
  [/^ExpiredToken/, 'Sign in again (such as "aws sso login"), or take new credentials.'],
  [
    /Thrott|^(RequestLimitExceeded|TooManyRequestsException|SlowDown)$/,
    'Wait a minute and run it again: others call the same account, or a quota is low.',
  ],
  [
    /^(RequestExpired|RequestTimeTooSkewed|InvalidSignatureException|SignatureDoesNotMatch)$/,
    'Set the clock of this machine, and check the secret access key.',
  ],
  [
    // Session tokens of the global STS endpoint are not valid in a region that has to be enabled.
    // https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_enable-regions.html
    /^(UnrecognizedClientException|InvalidClientTokenId|InvalidAccessKeyId|AuthFailure)$/,
    'Check AWS_PROFILE and AWS_ACCESS_KEY_ID, and that the account has the region enabled.',
  ],
  [
    /^(OptInRequired|PendingVerification|SubscriptionRequiredException)$/,
    'Complete the registration of the account: it takes up to 24 hours.',
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'Check the network, its name server and the VPN: the name is not found.'],
  [/^ECONNREFUSED$/, 'Nothing listens there: check the proxy, the VPN and AWS_ENDPOINT_URL.'],
  [
    /CERT|SELF_SIGNED|^UNABLE_TO_|^CRL_/,
    "A proxy that inspects TLS may stand between: name a file with its root certificate in NODE_EXTRA_CA_CERTS. Otherwise check this machine's clock.",
  ],
];

/** One line, without a full stop. An error of several addresses has its words in those of each. */
function brief({ message, errors, code, name }: SdkError): string {
  const text = message || errors?.map((each) => each.message).join(', ') || code || name;
  return text.replace(/\s+/g, ' ').trim().slice(0, 400).replace(/\.$/, '');
}
