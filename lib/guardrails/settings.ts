import { InvalidInput } from '../environment/messages';
import type { Environment } from '../environment/schema';
import { environments as table } from '../environments';
import { accountVariable, readAccounts } from '../target-accounts';
import type { AttachedPolicies } from './policies';

/**
 * The account of one row. A policy for one region would stop an environment of another region in the same account, so
 * every row's account must be known, and a different one. @throws InvalidInput with the setting to correct
 */
export function readGuardedAccount(
  read: (name: string) => unknown,
  { CDK_DEFAULT_ACCOUNT: credentials, ...variables }: Readonly<Record<string, string | undefined>>,
  environments: readonly Environment[] = table,
): AttachedPolicies {
  const names = environments.map((row) => row.name);
  const [name, organization, breakGlass] = ['environment', 'organization', 'break-glass'].map(read);
  const environment = new Map<unknown, Environment>(environments.map((row) => [row.name, row])).get(name);
  if (!environment)
    throw new InvalidInput(
      `environment is ${JSON.stringify(name) ?? 'missing'}. Give one of the table: -c wallet:environment=${names.join(' or ')}`,
    );
  // https://docs.aws.amazon.com/organizations/latest/APIReference/API_Organization.html
  if (typeof organization !== 'string' || !/^o-[a-z0-9]{10,32}$/.test(organization))
    throw new InvalidInput(
      `organization is ${JSON.stringify(organization) ?? 'missing'}. Give its id as -c wallet:organization=o-…: aws organizations describe-organization --query Organization.Id`,
    );
  const accounts = readAccounts(names, variables, () => undefined);
  for (const each of names)
    if (accounts[each] === undefined)
      throw new InvalidInput(
        `${accountVariable(each)} is missing. Set the account of every environment: policies for one would stop another in the same account.`,
      );
  const account = String(accounts[environment.name]);
  const others = environments.filter((row) => row !== environment && accounts[row.name] === account);
  if (others.length > 0)
    throw new InvalidInput(
      `${accountVariable(environment.name)} is ${account}, which is the account of ${others.map((row) => row.name).join(' and ')} too. Give each environment an account of its own: the policies would stop the others.`,
    );
  if (account === credentials)
    throw new InvalidInput(
      `${accountVariable(environment.name)} is ${account}, the account of the credentials. Deploy with those of the organization's management account, which policies do not bind.`,
    );
  // A wildcard would admit whoever can name a role.
  const isRole = (arn: unknown): arn is string =>
    `${arn}`.startsWith(`arn:aws:iam::${account}:role/`) && /^[\w:/+=,.@-]+$/.test(`${arn}`);
  if (breakGlass !== undefined && !isRole(breakGlass))
    throw new InvalidInput(
      `break-glass is ${JSON.stringify(breakGlass)}. Give the whole ARN of one role of account ${account}, without wildcards: aws iam get-role --role-name NAME --query Role.Arn`,
    );
  // No default: the resource control policy, attached too early, could stop backups.
  const policies = read('policies');
  if (policies !== 'actions' && policies !== 'all')
    throw new InvalidInput(
      `policies is ${JSON.stringify(policies) ?? 'missing'}. Give -c wallet:policies=actions, or all as soon as docs/guardrails.md says so.`,
    );
  return {
    environment,
    account,
    organization,
    actionsOnly: policies === 'actions',
    ...(breakGlass !== undefined && { breakGlass }),
  };
}
