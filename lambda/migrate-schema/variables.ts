/** `DATABASE_ROLE_SECRETS`: JSON, a role's name to the ARN of its password's secret; `{}` where roles use IAM tokens. */
export const variables = ['DATABASE_MASTER_SECRET_ARN', 'DATABASE_ROLE_SECRETS'] as const;

/**
 * Milliseconds to wait for the database. The function has 14 minutes, six of them for the last attempt; the custom
 * resource has 15.
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html)
 */
export const longestWait = 8 * 60_000;
