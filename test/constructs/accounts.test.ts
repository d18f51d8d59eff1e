import { readAccounts } from '../../lib/environment/accounts';

const names = ['eu', 'north-sea'];
const account = '111122223333';
const credentials = '444455556666';

describe('the account of an environment', () => {
  it('is the one that the deployer gives for it, otherwise that of the credentials, if there are any', () => {
    expect(readAccounts(names, {})).toEqual({ eu: undefined, 'north-sea': undefined });
    expect(
      readAccounts(names, { WALLET_NORTH_SEA_ACCOUNT: account, CDK_DEFAULT_ACCOUNT: credentials }),
    ).toEqual({ eu: credentials, 'north-sea': account });
  });

  it('is not given by an empty variable, as workflows make of one that is not set', () => {
    expect(readAccounts(names, { WALLET_EU_ACCOUNT: '', WALLET_OTHER_ACCOUNT: '' }).eu).toBeUndefined();
  });

  it.each(['1', '12345678901', '1234567890123', '12345678901a', 'eu', ' 111122223333'])(
    'is refused when it is %j',
    (value) => {
      expect(() => readAccounts(names, { WALLET_EU_ACCOUNT: value })).toThrow(
        `WALLET_EU_ACCOUNT is ${JSON.stringify(value)}. Give the 12 digits of an AWS account.`,
      );
    },
  );

  it('is refused under a name that no environment has, before a stack goes to another account', () => {
    expect(() => readAccounts(names, { WALLET_EUU_ACCOUNT: account })).toThrow(
      'WALLET_EUU_ACCOUNT belongs to no environment. There are WALLET_EU_ACCOUNT, WALLET_NORTH_SEA_ACCOUNT.',
    );
  });
});
