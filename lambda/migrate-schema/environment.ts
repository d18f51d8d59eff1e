/**
 * `DATABASE_MASTER_SECRET_ARN`: the secret of the cluster's owner. `DATABASE_ROLE_SECRETS`: JSON, from a database
 * role to the ARN of the secret that holds its password; `{}` where roles sign in with IAM tokens. With them come
 * `locationVariables` of the database.
 */
export const variables = ['DATABASE_MASTER_SECRET_ARN', 'DATABASE_ROLE_SECRETS'] as const;

/**
 * Milliseconds to wait for the database. The function has 14 minutes, of which the last try keeps six; the custom resource
 * has 15.
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html)
 */
export const longestWait = 8 * 60_000;
