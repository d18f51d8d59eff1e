/**
 * `DATABASE_MASTER_SECRET_ARN`: the secret of the cluster's owner. `DATABASE_ROLE_SECRETS`: JSON that maps a
 * database role to the ARN of its password's secret; `{}` where roles sign in with IAM tokens. The function also
 * has the database's `locationVariables`.
 */
export const variables = ['DATABASE_MASTER_SECRET_ARN', 'DATABASE_ROLE_SECRETS'] as const;

/**
 * Milliseconds to wait for the database. The function has 14 minutes, six of them for the last attempt; the custom
 * resource has 15.
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html)
 */
export const longestWait = 8 * 60_000;
