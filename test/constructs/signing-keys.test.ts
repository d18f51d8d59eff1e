import { first, withOtherOptions } from '../support/rows';
import { stackOf } from '../support/stacks';

const stack = stackOf(first);

it('the signing keys reach the functions that verify, each for its own purpose', () => {
  const sets = stack.all('Custom::SigningKeySet').map(({ logicalId, Properties }) => ({
    keys: Properties.Keys.map(({ Arn }: { Arn: Record<string, string[]> }) => Arn['Fn::GetAtt']?.[0]).join(),
    jwks: { 'Fn::GetAtt': [logicalId, 'Jwks'] },
  }));
  const jwksOf = (prefix: string, variable: string) =>
    stack.named('AWS::Lambda::Function', prefix).Properties.Environment.Variables[variable];
  expect(sets).toEqual([
    {
      keys: expect.stringMatching(/^AccessTokenSigningKey\w+$/),
      jwks: jwksOf('AuthorizeRequest', 'TOKEN_KEYS'),
    },
    {
      keys: expect.stringMatching(/^UserActionSigningKey\w+$/),
      jwks: jwksOf('DeleteUserGroup', 'USER_ACTION_KEYS'),
    },
  ]);
});

it('the signing keys can only be read by the function that exports them, and sign for nobody', () => {
  const exporter = stack.named('AWS::Lambda::Function', 'SigningKeysExportJwks');
  const [, ...statements] = stack.statementsOf(exporter);
  expect(statements.map(({ Action }) => Action)).toEqual(statements.map(() => 'kms:GetPublicKey'));
  const keys = stack.all('AWS::KMS::Key').filter(({ Properties }) => Properties.KeyUsage === 'SIGN_VERIFY');
  expect(statements.flatMap(({ Resource }) => Resource)).toEqual(
    keys.map(({ logicalId }) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] })),
  );
  const using = stack
    .all('AWS::Lambda::Function')
    .filter((other) =>
      /SigningKey\d|kms:(Sign|GetPublicKey)/.test(JSON.stringify(stack.statementsOf(other))),
    );
  expect(using.map(({ logicalId }) => logicalId)).toEqual([exporter.logicalId]);
});

it('the key of the first label signs, and those of all labels verify and stay in KMS', () => {
  const rotated = stackOf(withOtherOptions);
  const { accessToken } = withOtherOptions.signingKeyLabels;
  const ids = ['AccessTokenSigningKey202702', 'AccessTokenSigningKey202611'];
  const arns = ids.map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] }));
  expect(rotated.json.Outputs.TokenSigningKeyArn.Value).toEqual(arns[0]);
  expect(rotated.all('Custom::SigningKeySet')[0]?.Properties.Keys).toEqual(
    accessToken.map((Label, index) => ({ Label, Arn: arns[index] })),
  );
  for (const id of ids) expect([id, rotated.get(id).DeletionPolicy]).toEqual([id, 'RetainExceptOnCreate']);
});
