import { readAccounts } from '../../lib/accounts';

const names = ['eu', 'north-sea'];
const account = '111122223333';
const credentials = '444455556666';

const read = (variables: Readonly<Record<string, string>>) => {
  const warnings: string[] = [];
  const accounts = readAccounts(names, variables, (warning) => warnings.push(warning));
  return { accounts, warnings };
};

describe('the account of an environment', () => {
  it('is the one that the deployer sets, else that of the credentials, if any', () => {
    expect(read({}).accounts).toEqual({ eu: undefined, 'north-sea': undefined });
    const variables = { WALLET_NORTH_SEA_ACCOUNT: account, CDK_DEFAULT_ACCOUNT: credentials };
    expect(read(variables)).toEqual({ accounts: { eu: credentials, 'north-sea': account }, warnings: [] });
  });

  it('ignores an empty variable, which workflows pass for an unset one', () => {
    expect(
      read({ WALLET_EU_ACCOUNT: '', WALLET_OTHER_ACCOUNT: '', CDK_DEFAULT_ACCOUNT: credentials }),
    ).toEqual({
      accounts: { eu: credentials, 'north-sea': credentials },
      warnings: [],
    });
  });

  it.each(['12345678901', '12345678901a', ' 111122223333'])('is refused when it is %j', (value) => {
    expect(() => read({ WALLET_EU_ACCOUNT: value })).toThrow(
      `WALLET_EU_ACCOUNT is ${JSON.stringify(value)}. Give the 12 digits of an AWS account.`,
    );
  });
});

describe('a variable of an unknown environment', () => {
  const stray = { WALLET_EUU_ACCOUNT: account };
  const warning =
    'WALLET_EUU_ACCOUNT belongs to no environment. There are WALLET_EU_ACCOUNT, WALLET_NORTH_SEA_ACCOUNT. Correct it, or unset it if its environment is gone.';

  it.each<[string, Readonly<Record<string, string>>]>([
    ['there are no credentials to deploy with', {}],
    ['the credentials are of the account that it gives', { CDK_DEFAULT_ACCOUNT: account }],
    [
      'every environment has its own',
      { CDK_DEFAULT_ACCOUNT: credentials, WALLET_EU_ACCOUNT: account, WALLET_NORTH_SEA_ACCOUNT: account },
    ],
  ])('is a warning where %s', (_, variables) => {
    expect(read({ ...stray, ...variables }).warnings).toEqual([warning]);
  });

  it('is refused where a misspelling could deploy a stack to the account of the credentials', () => {
    expect(() =>
      read({ ...stray, WALLET_NORTH_SEA_ACCOUNT: account, CDK_DEFAULT_ACCOUNT: credentials }),
    ).toThrow(
      `${warning} Without WALLET_EU_ACCOUNT, a stack would go to ${credentials}, the account of the credentials.`,
    );
  });
});
