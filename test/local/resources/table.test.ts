import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Template } from '../../../local/assembly/manifest';
import { createPermissions } from '../../../local/permissions/permissions';
import { createFunctions } from '../../../local/resources/functions';
import { createTable, type TableOptions } from '../../../local/resources/table';
import { stateFolder } from '../../../local/state';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const put: { arn: string; value: string }[] = [];
beforeEach(() => void put.splice(0));

function open(
  region = 'eu-central-1',
  Resources: Template['Resources'] = {},
  assets = new Map<string, string>(),
) {
  const stack = { name: 'WalletEu', region, assets, template: { Resources } };
  const permissions = createPermissions();
  const functions = createFunctions({
    stack,
    runtimeVariables: {},
    ownVariables: {},
    permissions,
    onLog: () => undefined,
  });
  const services = { secrets: { put: (secret: { arn: string; value: string }) => put.push(secret) } };
  const options = {
    stack,
    folder: stateFolder(folder()).environment(region),
    permissions,
    services,
    functions,
  };
  const table = createTable(options as unknown as TableOptions);
  const make = (logicalId: string, type: string, properties: object = {}) =>
    table.provision({ logicalId, type, properties: { ...properties } });
  return { ...table, functions, make };
}

it.each([
  ['AWS::DynamoDB::Table', {}, 'WalletEu, X: AWS::DynamoDB::Table is not supported on this machine.'],
  ['AWS::SQS::Queue', { FifoQueue: true }, 'WalletEu, X: FifoQueue of AWS::SQS::Queue is not supported'],
  ['AWS::Lambda::Function', { Layers: [] }, 'Layers of AWS::Lambda::Function is not supported'],
  ['AWS::KMS::Key', { MultiRegion: true }, 'MultiRegion of AWS::KMS::Key is not supported'],
  ['AWS::Lambda::Permission', { PrincipalOrgID: 'o' }, 'PrincipalOrgID of AWS::Lambda::Permission is not'],
  ['AWS::Lambda::Function', { Code: { ZipFile: 'x' } }, 'only functions whose code is an asset run here'],
])('refuses %s with %j, by name', async (type, properties, message) => {
  await expect(open().make('X', type, properties)).rejects.toThrow(message);
});

it('stands for what has no effect here by a name and an ARN', async () => {
  const arn = 'arn:aws:cloudwatch:eu-central-1:000000000000:WalletEu-X';
  expect(await open().make('X', 'AWS::CloudWatch::Alarm')).toEqual({
    ref: 'WalletEu-X',
    attributes: { Arn: arn },
  });
});

it('gives each Elastic IP an address of this machine, in the order of the template', async () => {
  const { make } = open('eu-central-1', {
    Other: { Type: 'AWS::EC2::VPC' },
    Origin: { Type: 'AWS::EC2::EIP' },
    Reserve: { Type: 'AWS::EC2::EIP' },
  });
  const [reserve, origin] = [await make('Reserve', 'AWS::EC2::EIP'), await make('Origin', 'AWS::EC2::EIP')];
  expect([origin, reserve].map(({ attributes }) => attributes.PublicIp)).toEqual(['127.0.0.1', '127.0.0.2']);
});

const secret = 'AWS::SecretsManager::Secret';
const generated = {
  GenerateSecretString: {
    SecretStringTemplate: '{"username":"wallet_owner"}',
    GenerateStringKey: 'password',
    PasswordLength: 40,
    ExcludeCharacters: ' %+~`#$&*()|[]{}:;<>?!\'/@"\\=^,',
  },
};

it('generates a secret once, keeps it for later runs, and only its owner can read it', async () => {
  const { ref } = await open().make('Master', secret, generated);
  expect((await open().make('Master', secret, generated)).ref).toBe(ref);
  expect(put[1]).toEqual(put[0]);
  const { username, password } = JSON.parse(put[0]?.value ?? '');
  expect(username).toBe('wallet_owner');
  expect(password).toMatch(/^[A-Za-z0-9._-]{40}$/);
  const file = join(folder(), 'environments', 'eu-central-1', 'secrets.json');
  expect(statSync(file).mode & 0o077).toBe(0);
});

it('gives each environment its own secret', async () => {
  await open().make('Master', secret, generated);
  await open('me-central-1').make('Master', secret, generated);
  expect(new Set(put.map(({ value }) => value)).size).toBe(2);
  expect(new Set(put.map(({ arn }) => arn)).size).toBe(2);
});

it('resolves dynamic references by ARN and by name', async () => {
  const table = open();
  const { ref } = await table.make('Master', secret, { SecretString: '{"a":"b"}' });
  expect(table.secret(ref, 'a')).toBe('b');
  expect(table.secret('Master', undefined)).toBe('{"a":"b"}');
  expect(table.secret('Other', 'a')).toBeUndefined();
});

it('finds functions by name, by ARN, and behind a service token through the provider framework', async () => {
  const { make, functions } = open('eu-central-1', {}, new Map([['code.zip', '/nowhere']]));
  const code = { Code: { S3Key: 'code.zip' }, Handler: 'index.handler' };
  const handler = await make('Handler', 'AWS::Lambda::Function', code);
  expect(functions.find(handler.ref)).toBe(functions.find(String(handler.attributes.Arn)));
  expect(() => functions.find('Absent')).toThrow('WalletEu has no function Absent.');
  const Variables = { USER_ON_EVENT_FUNCTION_ARN: handler.attributes.Arn };
  const framework = await make('Framework', 'AWS::Lambda::Function', { ...code, Environment: { Variables } });
  expect(functions.behindServiceToken(String(framework.attributes.Arn)).name).toBe(handler.ref);
  expect(() => functions.behindServiceToken(String(handler.attributes.Arn))).toThrow(
    'is not a provider framework',
  );
});
