import { first } from '../support/rows';
import { type StackTemplate, stackOf } from '../support/stacks';

const stack = stackOf(first);

it('the signing keys reach the functions that verify, each for its own purpose', () => {
  const [accessToken, userAction] = stack.all('Custom::SigningKeySet').map(({ logicalId, Properties }) => {
    const keys = Properties.Keys.map(({ Arn }: { Arn: Record<string, string[]> }) => Arn['Fn::GetAtt']?.[0]);
    return { keys: keys.join(), jwks: { 'Fn::GetAtt': [logicalId, 'Jwks'] } };
  });
  expect([accessToken?.keys, userAction?.keys]).toEqual([
    expect.stringMatching(/^AccessTokenSigningKey\w+$/),
    expect.stringMatching(/^UserActionSigningKey\w+$/),
  ]);
  const variablesOf = (prefix: string) =>
    stack.named('AWS::Lambda::Function', prefix).Properties.Environment.Variables;
  expect(variablesOf('AuthorizeRequest').TOKEN_KEYS).toEqual(accessToken?.jwks);
  expect(variablesOf('DeleteUserGroup').USER_ACTION_KEYS).toEqual(userAction?.jwks);
});

it('the signing keys can only be read by the function that exports them, and sign for nobody', () => {
  const exporter = stack.named('AWS::Lambda::Function', 'SigningKeysExportJwks');
  const [, ...statements] = stack.statementsOf(exporter);
  expect(statements.map(({ Action }) => Action)).toEqual(statements.map(() => 'kms:GetPublicKey'));
  const keys = stack.all('AWS::KMS::Key').filter(({ Properties }) => Properties.KeyUsage === 'SIGN_VERIFY');
  expect(statements.flatMap(({ Resource }) => Resource)).toEqual(
    keys.map(({ logicalId }) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] })),
  );
  for (const other of stack.all('AWS::Lambda::Function'))
    if (other.logicalId !== exporter.logicalId)
      expect(JSON.stringify(stack.statementsOf(other))).not.toMatch(/SigningKey\d|kms:(Sign|GetPublicKey)/);
});

it('a rotation adds a key that verifies, lets it sign, then stops accepting the old one, which stays in KMS', () => {
  const [old, young] = ['AccessTokenSigningKey202611', 'AccessTokenSigningKey202702'];
  const labels = [['2026-11'], ['2026-11', '2027-02'], ['2027-02', '2026-11'], ['2027-02']];
  const steps = labels.map((accessToken) =>
    stackOf({ ...first, signingKeyLabels: { accessToken, userAction: ['2026-11'] } }),
  );
  const signing = steps.map(({ json }) => json.Outputs.TokenSigningKeyArn.Value['Fn::GetAtt'][0]);
  expect(signing).toEqual([old, old, young, young]);
  const verifying = steps.map((step) =>
    step.all('Custom::SigningKeySet')[0]?.Properties.Keys.map(({ Label }: { Label: string }) => Label),
  );
  expect(verifying).toEqual(labels);
  const [before, added, moved] = steps as [StackTemplate, StackTemplate, StackTemplate];
  expect(added.get(old)).toEqual(before.get(old));
  for (const id of [old, young]) expect(moved.get(id)).toEqual(added.get(id));
  expect(moved.get(old).DeletionPolicy).toBe('RetainExceptOnCreate');
});
