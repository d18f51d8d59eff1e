/** The variable that gives the AWS account of an environment, such as `WALLET_EU_ACCOUNT`. */
export const accountVariable = (name: string): string =>
  `WALLET_${name.toUpperCase().replaceAll('-', '_')}_ACCOUNT`;

/**
 * The deployer's AWS accounts by the environment's name. One that is not given, or is empty, is that of the credentials in
 * use, `CDK_DEFAULT_ACCOUNT`, which the CDK command line sets; without credentials there is none.
 *
 * @param variables such as `process.env`
 * @throws Error for an account that is none, and for a variable like these that is no environment's: with a name spelled
 *   wrong, a stack would go to the account of the credentials instead.
 */
export function readAccounts(
  names: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const known = names.map(accountVariable);
  for (const [variable, value] of Object.entries(variables)) {
    if (!/^WALLET_\w+_ACCOUNT$/.test(variable) || !value) continue;
    if (!known.includes(variable)) {
      throw new Error(`${variable} belongs to no environment. There are ${known.join(', ')}.`);
    }
    if (!/^\d{12}$/.test(value)) {
      throw new Error(`${variable} is ${JSON.stringify(value)}. Give the 12 digits of an AWS account.`);
    }
  }
  return Object.fromEntries(
    names.map((name) => [name, variables[accountVariable(name)] || variables.CDK_DEFAULT_ACCOUNT]),
  );
}
