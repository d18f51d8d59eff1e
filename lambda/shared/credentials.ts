import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Stands in a bundle for the SDK's `@aws-sdk/credential-provider-node`: Lambda gives a function its credentials as variables,
 * and there is nothing to look for in files, at the metadata service or at another of AWS's services. The clients of those
 * would be a quarter of every bundle.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 */
export const defaultProvider = fromEnv;
