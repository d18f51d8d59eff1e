// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Fn::Sub is written.
import { createResolver } from '../../../local/assembly/intrinsics';

// What resolves is in every template, which the end-to-end tests deploy.

const { resolve } = createResolver({
  stackName: 'WalletEu',
  region: 'eu-central-1',
  template: { Resources: {} },
  resources: { ref: () => undefined, attribute: () => undefined, secret: () => undefined },
});

it.each([
  [{ Ref: 'Gone' }, 'the resource Gone has no local physical id'],
  [{ 'Fn::GetAtt': ['Gone', 'Arn'] }, 'the resource Gone has no local attribute Arn'],
  [{ 'Fn::Transform': {} }, 'Fn::Transform is not supported on this machine'],
  [{ 'Fn::Sub': '${Queue}' }, '${Queue} of Fn::Sub is not supported on this machine'],
  ['{{resolve:secretsmanager:other:SecretString:x::}}', 'unknown secret in {{resolve:secretsmanager:other:'],
])('refuses %j and says where it is', (value, problem) => {
  expect(() => resolve({ a: { b: [value] } }, 'Here')).toThrow(`WalletEu, Here.a.b[0]: ${problem}`);
});
