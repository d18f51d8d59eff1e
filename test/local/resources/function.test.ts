import { createAccessControl } from '../../../local/iam/access';
import { createFunctions } from '../../../local/resources/function';

const functions = createFunctions({
  stack: { name: 'WalletEu', region: 'eu-central-1', assets: new Map([['code.zip', '/nowhere']]) },
  runtimeVariables: {},
  ownVariables: {},
  access: createAccessControl(),
  onLog: () => undefined,
});
const provision = (logicalId: string, properties: object = {}) =>
  functions.provision({
    logicalId,
    type: '',
    properties: { Code: { S3Key: 'code.zip' }, Handler: 'index.handler', ...properties },
  });

it('is found by name and by ARN', async () => {
  const { ref, attributes } = await provision('Greet');
  expect(functions.find(ref)).toBe(functions.find(String(attributes.Arn)));
  expect(functions.get('Absent')).toBeUndefined();
  expect(() => functions.find('Absent')).toThrow('WalletEu has no function Absent.');
});

it('behind a service token is found through the provider framework', async () => {
  const handler = await provision('Handler');
  const Variables = { USER_ON_EVENT_FUNCTION_ARN: handler.attributes.Arn };
  const framework = await provision('Framework', { Environment: { Variables } });
  expect(functions.behindServiceToken(String(framework.attributes.Arn)).name).toBe(handler.ref);
  expect(() => functions.behindServiceToken(String(handler.attributes.Arn))).toThrow(
    'is not a provider framework',
  );
});

it('whose code is not an asset is refused by name', async () => {
  await expect(provision('Inline', { Code: { ZipFile: 'x' } })).rejects.toThrow(
    'WalletEu, Inline: only functions whose code is an asset run here.',
  );
});
