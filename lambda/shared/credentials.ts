import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Replaces the SDK's `@aws-sdk/credential-provider-node` in bundles: credentials from environment variables only, as Lambda
 * sets them. The providers for files, the metadata service and other AWS services would be a quarter of every bundle.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 */
export const defaultProvider = fromEnv;
