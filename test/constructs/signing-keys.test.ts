import { first } from '../support/rows';
import { type StackTemplate, stackOf, synthesizeStacks } from '../support/stacks';

const stacks = synthesizeStacks();

const signingKeys = (stack: StackTemplate) =>
  stack.all('AWS::KMS::Key').filter(({ Properties }) => Properties.KeyUsage === 'SIGN_VERIFY');

describe.each(Object.entries(stacks))('the signing keys of %s', (_, stack) => {
  it('are exported for access tokens and user actions apart', () => {
    const sets = stack.all('Custom::SigningKeySet').map(({ Properties }) => Properties.Keys);
    expect(sets).toEqual([
      [{ Label: '2026-11', Arn: { 'Fn::GetAtt': ['AccessTokenSigningKey202611', 'Arn'] } }],
      [{ Label: '2026-11', Arn: { 'Fn::GetAtt': ['UserActionSigningKey202611', 'Arn'] } }],
    ]);
  });

  it('reach the functions that verify, each for its own purpose', () => {
    const [accessToken, userAction] = stack.all('Custom::SigningKeySet').map(({ logicalId }) => logicalId);
    const variablesOf = (prefix: string) =>
      stack.named('AWS::Lambda::Function', prefix).Properties.Environment.Variables;
    expect(variablesOf('AuthorizeRequest')).toEqual({
      TOKEN_ISSUER: stack.environment.tokenIssuer,
      TOKEN_KEYS: { 'Fn::GetAtt': [accessToken, 'Jwks'] },
      TOKEN_LIFETIME: '86400',
    });
    expect(variablesOf('DeleteUserGroup')).toMatchObject({
      TOKEN_ISSUER: stack.environment.tokenIssuer,
      USER_ACTION_KEYS: { 'Fn::GetAtt': [userAction, 'Jwks'] },
    });
  });

  it('can be read by the function that exports them, which can do nothing else with them', () => {
    const exporter = stack.named('AWS::Lambda::Function', 'SigningKeysExportJwks');
    const [, ...statements] = stack.statementsOf(exporter);
    expect(statements.map(({ Action }) => Action)).toEqual(statements.map(() => 'kms:GetPublicKey'));
    expect(statements.flatMap(({ Resource }) => Resource)).toEqual(
      signingKeys(stack).map(({ logicalId }) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] })),
    );
    const others = stack
      .all('AWS::Lambda::Function')
      .filter(({ logicalId }) => logicalId !== exporter.logicalId);
    for (const other of others)
      expect(JSON.stringify(stack.statementsOf(other))).not.toMatch(/SigningKey\d|kms:(Sign|GetPublicKey)/);
  });
});

describe('rotation', () => {
  const rotated = (accessToken: string[]) =>
    stackOf({ ...first, signingKeyLabels: { accessToken, userAction: ['2026-11'] } });
  const labels = (stack: StackTemplate) =>
    stack.all('Custom::SigningKeySet')[0]?.Properties.Keys.map(({ Label }: { Label: string }) => Label);

  const before = rotated(['2026-11']);
  const added = rotated(['2026-11', '2027-02']);
  const moved = rotated(['2027-02', '2026-11']);
  const removed = rotated(['2027-02']);

  it('adds a key beside the old one, which signs on', () => {
    expect(labels(added)).toEqual(['2026-11', '2027-02']);
    expect(added.get('AccessTokenSigningKey202611')).toEqual(before.get('AccessTokenSigningKey202611'));
    expect(added.json.Outputs.TokenSigningKeyArn.Value).toEqual({
      'Fn::GetAtt': ['AccessTokenSigningKey202611', 'Arn'],
    });
  });

  it('lets the new key sign while both verify', () => {
    expect(labels(moved)).toEqual(['2027-02', '2026-11']);
    expect(moved.json.Outputs.TokenSigningKeyArn.Value).toEqual({
      'Fn::GetAtt': ['AccessTokenSigningKey202702', 'Arn'],
    });
    for (const id of ['AccessTokenSigningKey202611', 'AccessTokenSigningKey202702'])
      expect(moved.get(id)).toEqual(added.get(id));
  });

  it('stops accepting the old key, which stays in KMS', () => {
    expect(labels(removed)).toEqual(['2027-02']);
    expect(moved.get('AccessTokenSigningKey202611').DeletionPolicy).toBe('RetainExceptOnCreate');
  });

  it('leaves the keys of user actions alone', () => {
    for (const stack of [added, moved, removed])
      expect(stack.get('UserActionSigningKey202611')).toEqual(before.get('UserActionSigningKey202611'));
  });
});
