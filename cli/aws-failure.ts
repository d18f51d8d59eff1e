/** An error as the SDK throws it: `$fault` on what a service refused, `$response` on what it could not read. */
export type SdkError = Error & {
  readonly code?: string;
  readonly errors?: readonly Error[];
  readonly $fault?: 'client' | 'server';
  readonly $response?: { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> };
};

/** A stack that is missing, for every command: CloudFormation has no error of its own for it. */
export const noStack = (name: string): Pick<AwsFailure, 'message' | 'remedy'> => ({
  message: `There is no stack ${name} in the account and the region that were asked`,
  remedy: 'Deploy it, or sign in to the account that has it.',
});

/** Why a call to AWS failed, as far as it changes what to do about it. */
export type FailureKind =
  | keyof typeof refusals
  | keyof typeof connections
  | 'no-credentials'
  /** What answered is not AWS, or is broken. */
  | 'foreign'
  /** For another reason than those above. */
  | 'rejected'
  | 'other';

export interface AwsFailure {
  readonly kind: FailureKind;
  /** One line, without a full stop. */
  readonly message: string;
  readonly remedy: string;
}

interface Refusal {
  readonly names: readonly string[];
  readonly said: string;
  readonly remedy: string;
}

/**
 * By the error's name, which differs between services.
 * https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html,
 * https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
 */
const refusals = {
  denied: {
    names: ['AccessDeniedException', 'AccessDenied', 'UnauthorizedOperation'],
    said: 'was refused',
    remedy: 'Sign in as someone who has ACTION.',
  },
  throttled: {
    // https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
    names: [
      'Throttling',
      'ThrottlingException',
      'ThrottledException',
      'RequestLimitExceeded',
      'RequestThrottled',
      'RequestThrottledException',
      'TooManyRequestsException',
      'EC2ThrottledException',
      'KmsThrottled',
      'SlowDown',
    ],
    said: 'was throttled',
    remedy: 'Wait a minute and run it again: others call the same account, or a quota is low.',
  },
  expired: {
    names: ['ExpiredToken', 'ExpiredTokenException'],
    said: 'was refused, because the credentials have expired',
    remedy: 'Sign in again (such as "aws sso login"), or take new credentials.',
  },
  clock: {
    names: ['RequestExpired', 'RequestTimeTooSkewed', 'InvalidSignatureException', 'SignatureDoesNotMatch'],
    said: 'was refused by its signature',
    remedy: 'Set the clock of this machine, and check the secret access key.',
  },
  'unknown-key': {
    names: ['UnrecognizedClientException', 'InvalidClientTokenId', 'InvalidAccessKeyId', 'AuthFailure'],
    said: 'was refused, because AWS does not know the access key there',
    // https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_enable-regions.html
    remedy:
      'Check AWS_PROFILE and AWS_ACCESS_KEY_ID, and that the account has the region enabled: session tokens of the global STS endpoint are not valid in a region that has to be enabled.',
  },
  'not-signed-up': {
    names: ['OptInRequired', 'PendingVerification', 'SubscriptionRequiredException'],
    said: 'was refused, because the account is not signed up for it',
    remedy: 'Complete the registration of the account: it takes up to 24 hours.',
  },
} as const satisfies Record<string, Refusal>;

/**
 * By the codes of Node.js: https://nodejs.org/api/errors.html#common-system-errors,
 * https://nodejs.org/api/tls.html#x509-certificate-error-codes
 */
const connections = {
  name: {
    codes: /^(ENOTFOUND|EAI_AGAIN)$/,
    remedy: 'Check the network, its name server and the VPN: the name is not found.',
  },
  refused: {
    codes: /^ECONNREFUSED$/,
    remedy: 'Nothing listens there: check the proxy, the VPN and AWS_ENDPOINT_URL.',
  },
  certificate: {
    codes: /CERT|SELF_SIGNED|^UNABLE_TO_|^CRL_/,
    remedy:
      "A proxy that inspects TLS may stand between: name a file with its root certificate in NODE_EXTRA_CA_CERTS. Otherwise check this machine's clock.",
  },
  lost: {
    codes: /./,
    remedy: 'Check the network: a firewall, a proxy or a missing VPN lets nothing through.',
  },
} as const satisfies Record<string, { readonly codes: RegExp; readonly remedy: string }>;

/**
 * Says of a failed call what an operator can do about it.
 *
 * @param action the permission that the call needs, such as `kms:Sign`
 * @returns undefined for an error that is not of the call: a bug
 */
export function explainFailure(error: SdkError, action: string): AwsFailure | undefined {
  const { name, code, $fault, $response } = error;
  // An answer that names no error, that cannot be read, or whose checksum is of another message. One that broke off
  // has a code.
  const unread = $response && !$fault && !code;
  if (name === 'Unknown' || unread || /^Invalid ?(MD5 )?checksum/i.test(error.message))
    return foreign(error, action);
  // https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
  if (/^(CredentialsProviderError|TokenProviderError)$/.test(name)) {
    return {
      kind: 'no-credentials',
      message: `There are no AWS credentials for ${action}: ${brief(error)}`,
      remedy: 'Sign in to the account (such as "aws sso login") and name the profile in AWS_PROFILE.',
    };
  }
  if (!$fault) return code ? unreachable(error, action) : undefined;
  for (const [kind, { names, said, remedy }] of Object.entries<Refusal>(refusals)) {
    if (names.includes(name))
      return {
        kind: kind as keyof typeof refusals,
        message: `${action} ${said}: ${brief(error)}`,
        remedy: remedy.replace('ACTION', action),
      };
  }
  const [, stack] = /^Stack with id (\S+) does not exist$/.exec(brief(error)) ?? [];
  if (name === 'ValidationError' && stack) return { kind: 'other', ...noStack(stack) };
  const message = `${action} failed: ${name}: ${brief(error)}`;
  if ($fault === 'client')
    return { kind: 'rejected', message, remedy: 'Check the account that you are signed in to.' };
  return {
    kind: 'other',
    message,
    remedy:
      'Try again in a minute: the fault is of AWS, which tells of its troubles in the AWS Health Dashboard.',
  };
}

function foreign({ $response }: SdkError, action: string): AwsFailure {
  const { statusCode = 200, headers = {} } = $response ?? {};
  const type = headers['content-type']?.split(';')[0] || 'no content type';
  return {
    kind: 'foreign',
    message: `${action} was not answered as AWS answers: status ${statusCode}, ${type}`,
    remedy:
      statusCode >= 500
        ? 'Try again in a minute. If it stays so, ask who runs the proxy or the VPN, and check AWS_ENDPOINT_URL.'
        : 'A proxy, the sign-in page of a network, or another server behind AWS_ENDPOINT_URL answered: sign in to the network, or have the proxy let AWS through.',
  };
}

function unreachable(error: SdkError, action: string): AwsFailure {
  const [kind, { remedy }] = Object.entries(connections).find(([, { codes }]) =>
    codes.test(error.code ?? ''),
  ) as [keyof typeof connections, { readonly remedy: string }];
  return { kind, message: `${action} cannot be reached: ${brief(error)}`, remedy };
}

/** One line, without a full stop. An error of several addresses has its words in those of each. */
export function brief({ message, errors, code, name }: SdkError): string {
  const text = message || errors?.map((each) => each.message).join(', ') || code || name;
  return text.replace(/\s+/g, ' ').trim().slice(0, 400).replace(/\.$/, '');
}
