import type { Agent } from 'node:http';
import https from 'node:https';
import { CommandFailed } from './failure';

/** Milliseconds for a call with its retries: a paused database cluster may need half of it to resume. */
const deadline = 60_000;

let agent: Agent | undefined;

/** Sends `https` requests through the proxy of `HTTPS_PROXY`, unless `NO_PROXY` has the host, or it is this machine. */
export function proxyAgent(): Agent {
  if (agent) return agent;
  // Loaded lazily: commands on local environments need none.
  const { ProxyAgent } = require('proxy-agent') as typeof import('proxy-agent');
  // Through a proxy, each call has its own connection: a refused tunnel would be used again.
  const created = new ProxyAgent({ httpsAgent: new https.Agent({ keepAlive: true }) });
  const { getProxyForUrl } = created;
  created.getProxyForUrl = (url, request) =>
    /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname) ? '' : getProxyForUrl(url, request);
  agent = created;
  return agent;
}

/** What the SDK would otherwise read from a variable or profile that is wrong for every client of ours. */
const ownSettings = (region: string) => ({
  region,
  // For SQS: otherwise a queue URL's host overrides `AWS_ENDPOINT_URL`.
  useQueueUrlAsEndpoint: false,
  // An unknown mode would end the process.
  defaultsMode: 'legacy' as const,
});

/** Settings of AWS clients. The SDK itself reads `AWS_PROFILE`, `AWS_ENDPOINT_URL` and the like. */
export const clientSettings = (region: string) => ({
  ...ownSettings(region),
  requestHandler: { httpsAgent: proxyAgent() },
  credentials: credentialsOfChain(),
});

type Chain = ReturnType<typeof import('@aws-sdk/credential-providers').fromNodeProviderChain>;
type HttpHandler = import('@smithy/core/protocols').HttpHandler;

/**
 * The SDK's usual chain of credentials. Its own clients (SSO, its token's refresh, STS, `aws login`) use the transport of
 * the client that needs the credentials: most of them would otherwise ignore the proxy.
 *
 * @throws (rejects) what the chain hides: the error of a failed call, or why `credential_process` failed
 */
function credentialsOfChain(): Chain {
  let chain: Chain | undefined;
  let failedCall: unknown;
  let failedProcess: string | undefined;

  function createChain(handler: HttpHandler): Chain {
    const requestHandler: HttpHandler = Object.create(handler);
    requestHandler.handle = async (request, options) => {
      failedCall = undefined;
      try {
        const answer = await handler.handle(request, options);
        // Not from AWS, whose responses all have an id.
        if (!Object.keys(answer.response.headers).some((name) => /^x-amzn?-request-?id$/i.test(name)))
          failedCall = Object.assign(new Error(), { $response: answer.response });
        return answer;
      } catch (error) {
        failedCall = error;
        throw error;
      }
    };
    // Only the log has it: the chain goes on to the instance's role, and says at the end that it found nothing.
    const debug = (line: string) => {
      failedProcess ??= / -> ((Command failed: |Profile \S+ credential_process ).*)/s.exec(line)?.[1];
    };
    const { fromNodeProviderChain } =
      require('@aws-sdk/credential-providers') as typeof import('@aws-sdk/credential-providers');
    return fromNodeProviderChain({
      clientConfig: { requestHandler, defaultsMode: 'legacy' },
      logger: { ...console, debug },
    });
  }

  return async (properties) => {
    chain ??= createChain(properties?.callerClientConfig?.requestHandler as HttpHandler);
    [failedCall, failedProcess] = [undefined, undefined];
    try {
      return await chain(properties);
    } catch (error) {
      if (failedProcess) throw Object.assign(new Error(failedProcess), { name: 'CredentialProcessFailed' });
      if (/multi-factor authentication/.test((error as Error).message))
        throw Object.assign(error as Error, { name: 'CodeRequired' });
      throw failedCall ?? error;
    }
  };
}

/** Settings of clients of a service on this machine, which needs a signature, but accepts any. */
export const localClientSettings = (region: string, endpoint: string) => ({
  ...ownSettings(region),
  endpoint,
  useFipsEndpoint: false,
  useDualstackEndpoint: false,
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
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

/** Input and output of an SDK client's method: its first overload returns a promise. */
type Call<Method> = Method extends {
  (input: infer Input, options?: infer _Options): Promise<infer Output>;
  (input: never, callback: never): void;
  (input: never, options: never, callback: never): void;
}
  ? { readonly input: Input; readonly output: Output }
  : Method extends (input: infer Input, options: object) => Promise<infer Output>
    ? { readonly input: Input; readonly output: Output }
    : never;

/** Permissions that are not named like the method. */
const permissions: Readonly<Record<string, string>> = {
  invoke: 'InvokeFunction',
  sendMessageBatch: 'SendMessage',
};

/** Prefixes of permissions that are not the service's name in lowercase. */
const prefixes: Readonly<Record<string, string>> = {
  'Resource Groups Tagging API': 'tag',
  'Secrets Manager': 'secretsmanager',
};

/** Calls a method of an SDK client with a deadline. @throws AwsCallFailed that quotes AWS, with a remedy if we know one */
export async function callAws<
  Client extends { readonly config: { serviceId: string } },
  Name extends keyof Client & string,
>(client: Client, method: Name, input: Call<Client[Name]>['input']): Promise<Call<Client[Name]>['output']> {
  const permission = permissions[method] ?? `${method.charAt(0).toUpperCase()}${method.slice(1)}`;
  const { serviceId } = client.config;
  const abortSignal = AbortSignal.timeout(deadline);
  try {
    // biome-ignore lint/suspicious/noExplicitAny: typed above
    return await (client as any)[method](input, { abortSignal });
  } catch (error) {
    throw explain(
      error as SdkError,
      `${prefixes[serviceId] ?? serviceId.toLowerCase()}:${permission}`,
      abortSignal.aborted,
    );
  }
}

/** All pages of a method. @param token the member of its inputs and outputs that continues a list */
export async function callAwsPages<
  Client extends { readonly config: { serviceId: string } },
  Name extends keyof Client & string,
>(
  client: Client,
  method: Name,
  input: Call<Client[Name]>['input'],
  token = 'NextToken',
): Promise<Call<Client[Name]>['output'][]> {
  const pages: Call<Client[Name]>['output'][] = [];
  let next: string | undefined;
  do {
    const page = await callAws(client, method, { ...(input as object), [token]: next } as typeof input);
    pages.push(page);
    next = (page as Readonly<Record<string, string | undefined>>)[token];
  } while (next);
  return pages;
}

function explain(error: SdkError, action: string, isTooLate: boolean): Error {
  const { name, message, code = '', errors, $fault, $response } = error;
  if (isTooLate)
    return new AwsCallFailed(
      name,
      `${action} timed out after ${deadline / 1_000} s.`,
      'It may have succeeded; check before retrying.',
    );
  const known = remedies.find(([pattern]) => pattern.test(code) || pattern.test(name));
  // A bug of ours.
  if (!known && !code && !$fault && !$response) return error;
  if ($response && (!$fault || name === 'Unknown'))
    return new AwsCallFailed(
      name,
      `${action} failed: a response with status ${$response.statusCode} that is not from AWS.`,
      networkRemedy,
    );
  // An AggregateError: one message for each address of the host.
  const cause = message || errors?.map((each) => each.message).join(', ') || code;
  const said = `${$fault ? `${name}: ` : ''}${cause.trim().replace(/\s+/g, ' ').replace(/\.$/, '')}`;
  // AWS names what was denied, which may be another service's action: a bucket encrypts with KMS.
  const [, denied = action] = /not authorized to perform:? ([a-z][\w-]*:\w+)/.exec(cause) ?? [];
  return new AwsCallFailed(name, `${action} failed: ${said}.`, known?.[1].replace('ACTION', denied));
}

const networkRemedy = 'Check the network, the proxy, the VPN, and AWS_ENDPOINT_URL.';

/** Remedies by AWS error name, which differs between services, or Node.js error code. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/^(AccessDenied|UnauthorizedOperation)/, 'Sign in with a role that has ACTION.'],
  [
    /^CredentialProcessFailed$/,
    'Run the command of "credential_process" in the profile (see AWS_PROFILE) by itself, until it prints credentials.',
  ],
  [
    /^CodeRequired$/,
    `This command line cannot ask for the code; AWS's can: eval "$(aws configure export-credentials --format env)" && unset AWS_PROFILE`,
  ],
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
  [
    /^ECONNREFUSED$/,
    `Start the environments of this machine (npm start), or check AWS_ENDPOINT_URL and HTTPS_PROXY.`,
  ],
  [/^(E[A-Z_]+|TimeoutError)$/, networkRemedy],
];

/** @returns undefined if AWS rejects the call with an error of this name */
export async function unlessRefused<T>(errorName: RegExp, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof AwsCallFailed && errorName.test(error.errorName)) return undefined;
    throw error;
  }
}
