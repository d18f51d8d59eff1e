import { CommandFailed } from './failure';
import { startCommand } from './pasted-command';

/** Milliseconds for a call with its retries: a paused database cluster may need half of it to resume. */
const deadline = 60_000;

/** Settings of AWS clients. The SDK itself reads `AWS_PROFILE`, `AWS_ENDPOINT_URL` and the like. */
export const clientSettings = (region: string) => ({
  region,
  // For SQS: otherwise a queue URL's host overrides `AWS_ENDPOINT_URL`.
  useQueueUrlAsEndpoint: false,
});

/** AWS rejected a call or did not respond; `errorName` is the SDK's, such as `ResourceNotFoundException`. */
export class AwsCallFailed extends CommandFailed {
  constructor(
    readonly errorName: string,
    message: string,
    remedy?: string,
  ) {
    super(message, remedy);
  }
}

/** An error of the SDK: `$fault` if a service rejected the call, `$response` if its response could not be parsed. */
type SdkError = Error & {
  readonly code?: string;
  readonly errors?: readonly Error[];
  readonly $fault?: 'client' | 'server';
  readonly $response?: { readonly statusCode?: number };
};

/**
 * Makes one call to AWS with a deadline. The error quotes AWS, with a remedy if we know one.
 *
 * @param target absent for calls that need no outputs file
 * @param action the permission that the call needs, such as `kms:Sign`
 * @throws AwsCallFailed
 */
export async function callAws<T>(
  target: { readonly environment: { readonly name: string }; readonly local: boolean } | undefined,
  action: string,
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const abortSignal = AbortSignal.timeout(deadline);
  try {
    return await call({ abortSignal });
  } catch (error) {
    const { name, message, code = '', errors, $fault, $response } = error as SdkError;
    const failed = (text: string, remedy?: string) => new AwsCallFailed(name, text, remedy);
    if (abortSignal.aborted)
      throw failed(
        `${action} timed out after ${deadline / 1_000} s.`,
        'It may have succeeded; check before retrying.',
      );
    if (target?.local && code === 'ECONNREFUSED')
      throw failed(
        `Environment ${target.environment.name} is not running on this machine.`,
        `Start it: ${startCommand}`,
      );
    const known = remedies.find(([pattern]) => pattern.test(code) || pattern.test(name));
    // A bug of ours.
    if (!known && !code && !$fault && !$response) throw error;
    const isForeign = $response !== undefined && (!$fault || name === 'Unknown');
    // An AggregateError: one message for each address of the host.
    const cause = isForeign
      ? `a response with status ${$response.statusCode} that is not from AWS`
      : message || errors?.map((each) => each.message).join(', ') || code;
    const said = `${$fault && !isForeign ? `${name}: ` : ''}${cause.replace(/\s+/g, ' ').replace(/\.$/, '')}`;
    throw failed(
      `${action} failed: ${said}.`,
      isForeign ? networkRemedy : known?.[1].replace('ACTION', action),
    );
  }
}

const networkRemedy = 'Check the network, the proxy, the VPN, and AWS_ENDPOINT_URL.';

/** By AWS error names, which differ between services, and Node.js error codes. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/^(AccessDenied|UnauthorizedOperation)/, 'Sign in with a role that has ACTION.'],
  [
    /^(CredentialsProviderError|TokenProviderError|ExpiredToken)/,
    'Sign in to the account (such as "aws sso login") and name the profile in AWS_PROFILE.',
  ],
  [
    // Session tokens of the global STS endpoint are not valid in opt-in regions.
    // https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_enable-regions.html
    /^(UnrecognizedClientException|InvalidClientTokenId|InvalidAccessKeyId|AuthFailure)$/,
    'Check AWS_PROFILE and AWS_ACCESS_KEY_ID, and that the region is enabled in the account.',
  ],
  [/Thrott|^(RequestLimitExceeded|TooManyRequestsException)$/, 'Wait a minute and try again.'],
  [/CERT|SELF_SIGNED/, 'Behind a proxy that inspects TLS, set NODE_EXTRA_CA_CERTS to its root certificate.'],
  [/^(E[A-Z_]+|TimeoutError)$/, networkRemedy],
];

/** Input and output of an SDK client's method: its first overload returns a promise. */
type Call<Method> = Method extends {
  (input: infer Input, options?: infer _Options): Promise<infer Output>;
  (input: never, callback: never): void;
  (input: never, options: never, callback: never): void;
}
  ? { readonly input: Input; readonly output: Output }
  : never;

/** Calls a method named like its permission, such as `ec2:DescribeAddresses`. @throws AwsCallFailed */
export function ask<
  Client extends { readonly config: { serviceId: string } },
  Name extends keyof Client & string,
>(client: Client, method: Name, input: Call<Client[Name]>['input']): Promise<Call<Client[Name]>['output']> {
  const action = `${client.config.serviceId.toLowerCase()}:${method.charAt(0).toUpperCase()}${method.slice(1)}`;
  // biome-ignore lint/suspicious/noExplicitAny: typed above
  return callAws(undefined, action, (options) => (client as any)[method](input, options));
}

/** @returns undefined if AWS rejects the call with an error of this name */
export async function unlessRefused<T>(errorName: RegExp, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof AwsCallFailed && errorName.test(error.errorName)) return undefined;
    throw error;
  }
}

/** All items of all pages of an SDK's paginator. */
export async function collect<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[] | undefined,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const page of pages) found.push(...(itemsOf(page) ?? []));
  return found;
}
