import { InvalidInput } from './environment/messages';

/** The variable for an environment's AWS account, such as `WALLET_EU_ACCOUNT`. */
export const accountVariable = (name: string): string =>
  `WALLET_${name.toUpperCase().replaceAll('-', '_')}_ACCOUNT`;

/**
 * The AWS account of each environment: from its variable, otherwise from the credentials (`CDK_DEFAULT_ACCOUNT`, set by the CDK).
 * Warns of a variable that matches no environment; throws if a stack would then be deployed to the credentials' account, and for
 * a malformed one.
 */
export function readAccounts(
  names: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
  warn: (warning: string) => void,
): Readonly<Record<string, string | undefined>> {
  const known = names.map(accountVariable);
  for (const variable of known) {
    const value = variables[variable];
    if (value && !/^\d{12}$/.test(value))
      throw new InvalidInput(
        `${variable} is ${JSON.stringify(value)}. Give the 12 digits of an AWS account.`,
      );
  }
  const ofCredentials = variables.CDK_DEFAULT_ACCOUNT;
  const missing = known.find((variable) => !variables[variable]);
  for (const [variable, value] of Object.entries(variables)) {
    if (!/^WALLET_\w+_ACCOUNT$/.test(variable) || !value || known.includes(variable)) continue;
    const warning = `${variable} belongs to no environment. There are ${known.join(', ')}. Correct it, or unset it if its environment is gone.`;
    if (missing && ofCredentials && value !== ofCredentials) {
      const danger = `Without ${missing}, a stack would go to ${ofCredentials}, the account of the credentials.`;
      throw new InvalidInput(`${warning} ${danger}`);
    }
    warn(warning);
  }
  return Object.fromEntries(names.map((name) => [name, variables[accountVariable(name)] || ofCredentials]));
}
