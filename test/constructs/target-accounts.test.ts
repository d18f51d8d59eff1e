import { readAccounts } from '../../lib/target-accounts';

const account = '111122223333';
const credentials = '444455556666';

function read(variables: Readonly<Record<string, string>>) {
  const warnings: string[] = [];
  const accounts = readAccounts(['eu', 'north-sea'], variables, (warning) => warnings.push(warning));
  return { ...accounts, warnings };
}

it('the account of an environment is that of its variable, unless empty, else that of the credentials, if any', () => {
  const north = { WALLET_NORTH_SEA_ACCOUNT: account };
  expect(read(north)).toEqual({ 'north-sea': account, warnings: [] });
  // Workflows pass an empty variable for an unset one.
  expect(
    read({ ...north, WALLET_EU_ACCOUNT: '', WALLET_OLD_ACCOUNT: '', CDK_DEFAULT_ACCOUNT: credentials }),
  ).toEqual({ eu: credentials, 'north-sea': account, warnings: [] });
});

it.each(['12345678901', '123456789012a', ' 111122223333'])('refuses the account "%s"', (value) => {
  expect(() => read({ WALLET_EU_ACCOUNT: value })).toThrow(/^WALLET_EU_ACCOUNT is ".*"\. Give the 12 digits/);
});

it('a variable of an unknown environment is a warning, and refused if its stack could go to another account', () => {
  const others = { WALLET_EU_ACCOUNT: account, WALLET_NORTH_SEA_ACCOUNT: account };
  const harmless = [{}, { CDK_DEFAULT_ACCOUNT: account }, { ...others, CDK_DEFAULT_ACCOUNT: credentials }];
  for (const variables of harmless)
    expect(read({ WALLET_EUU_ACCOUNT: account, ...variables }).warnings).toEqual([
      expect.stringMatching(/^WALLET_EUU_ACCOUNT belongs to no environment\. There are WALLET_EU_ACCOUNT, /),
    ]);
  const { WALLET_EU_ACCOUNT: _, ...north } = others;
  expect(() => read({ WALLET_EUU_ACCOUNT: account, ...north, CDK_DEFAULT_ACCOUNT: credentials })).toThrow(
    `Without WALLET_EU_ACCOUNT, a stack would go to ${credentials}, the account of the credentials.`,
  );
});
