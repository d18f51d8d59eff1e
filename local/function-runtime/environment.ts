/** The AWS account of every local environment. */
export const LOCAL_ACCOUNT_ID = '000000000000';

export interface RuntimeIdentity {
  readonly name: string;
  readonly region: string;
  readonly memoryMiB: number;
  readonly handler: string;
  readonly bundleDirectory: string;
}

/**
 * The environment variables that Lambda itself defines.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 *
 * HOME is the bundle, so that no AWS configuration file of the machine's user is ever read.
 */
export function runtimeEnvironment(identity: RuntimeIdentity): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: 'LOCALFUNCTION',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
    AWS_DEFAULT_REGION: identity.region,
    AWS_REGION: identity.region,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(identity.memoryMiB),
    AWS_LAMBDA_FUNCTION_NAME: identity.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${identity.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    HOME: identity.bundleDirectory,
    LAMBDA_TASK_ROOT: identity.bundleDirectory,
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: 'UTC',
    _HANDLER: identity.handler,
  };
}
