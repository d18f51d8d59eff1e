import { InvalidInput } from '../environment/messages';
import type { Environment } from '../environment/schema';
import { environments as table } from '../environments';
import { accountVariable, readAccounts } from '../target-accounts';
import type { GuardedAccount } from './policies';

type Options = Readonly<Partial<Record<'environment' | 'organization' | 'breakGlass', string>>>;

/**
 * The account of one row. A policy for one region would stop an environment of another region in the same account, so
 * every row's account must be known, and a different one. @throws InvalidInput with the setting to correct
 */
export function readGuardedAccount(
  { environment: name, organization, breakGlass }: Options,
  { CDK_DEFAULT_ACCOUNT: credentials, ...variables }: Readonly<Record<string, string | undefined>>,
  environments: readonly Environment[] = table,
): GuardedAccount {
  const names = environments.map((row) => row.name);
  const environment = new Map(environments.map((row) => [row.name, row])).get(name ?? '');
  if (!environment)
    throw new InvalidInput(
      `environment is ${JSON.stringify(name) ?? 'missing'}. Give one of the table: --environment ${names.join(' or ')}`,
    );
  // https://docs.aws.amazon.com/organizations/latest/APIReference/API_Organization.html
  if (!organization || !/^o-[a-z0-9]{10,32}$/.test(organization))
    throw new InvalidInput(
      `organization is ${JSON.stringify(organization) ?? 'missing'}. Give its id as --organization o-…: aws organizations describe-organization --query Organization.Id`,
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
  const isRole =
    breakGlass?.startsWith(`arn:aws:iam::${account}:role/`) && /^[\w:/+=,.@-]+$/.test(breakGlass);
  if (breakGlass !== undefined && !isRole)
    throw new InvalidInput(
      `break-glass is ${JSON.stringify(breakGlass)}. Give the whole ARN of one role of account ${account}, without wildcards: aws iam get-role --role-name NAME --query Role.Arn`,
    );
  return { environment, account, organization, ...(breakGlass !== undefined && { breakGlass }) };
}
