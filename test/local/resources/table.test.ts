import { statSync } from 'node:fs';
import type { Template } from '../../../local/assembly/manifest';
import { failed } from '../../../local/lambda/instance';
import { createPermissions } from '../../../local/permissions/permissions';
import type { StackContext } from '../../../local/resources/context';
import { createResource } from '../../../local/resources/table';
import type { StackFunction } from '../../../local/services/services';
import { stateFolder } from '../../../local/state';
import { temporaryFolder } from '../../support/temporary-folder';

const temporary = temporaryFolder();

/** A stack on the same state as the others of a test. */
function open(region = 'eu-central-1', Resources: Template['Resources'] = {}) {
  const stored: { readonly arn: string; readonly value: string }[] = [];
  const functions: StackFunction[] = [];
  const context = {
    stack: { name: 'WalletEu', region, assets: new Map([['code.zip', '/nowhere']]), template: { Resources } },
    folder: stateFolder(temporary()).environment(region),
    permissions: createPermissions(),
    services: {
      secrets: { put: (secret: { arn: string; value: string }) => stored.push(secret) },
      variables: {},
      functions: {
        add: (added: StackFunction) => functions.push(added),
        find: (sought: string) => functions.find(({ arn }) => arn === sought),
      },
    },
    ownVariables: {},
    cleanup: { add: () => undefined },
    logs: { write: () => undefined, writeFunction: () => undefined },
  } as unknown as StackContext;
  const make = (logicalId: string, type: string, properties: object = {}) =>
    createResource({ logicalId, type, properties: { ...properties } }, context);
  return { context, stored, make };
}

const Role = 'arn:aws:iam::000000000000:role/Framework';
const code = { Code: { S3Key: 'code.zip' }, Handler: 'index.handler', Role };

it.each([
  ['AWS::DynamoDB::Table', {}, 'WalletEu, X: AWS::DynamoDB::Table is not supported on this machine.'],
  ['AWS::SQS::Queue', { FifoQueue: true }, 'WalletEu, X: FifoQueue of AWS::SQS::Queue is not supported'],
  ['AWS::Lambda::Function', { Layers: [] }, 'Layers of AWS::Lambda::Function is not supported'],
  ['AWS::KMS::Key', { MultiRegion: true }, 'MultiRegion of AWS::KMS::Key is not supported'],
  ['AWS::Lambda::EventSourceMapping', { StartingPosition: '' }, 'StartingPosition of AWS::Lambda::Event'],
  ['AWS::ApiGateway::Method', { ApiKeyRequired: true }, 'ApiKeyRequired of AWS::ApiGateway::Method is not'],
  ['AWS::ApiGateway::RestApi', { Policy: {} }, 'Policy of AWS::ApiGateway::RestApi is not supported'],
  ['AWS::Lambda::Function', { Code: { ZipFile: 'x' } }, 'only functions with asset code are supported'],
])('refuses %s with %j, by name', async (type, properties, message) => {
  await expect(open().make('X', type, properties)).rejects.toThrow(message);
});

it('assigns a name and an ARN to a resource that has no local effect', async () => {
  const Arn = 'arn:aws:cloudwatch:eu-central-1:000000000000:WalletEu-X';
  expect(await open().make('X', 'AWS::CloudWatch::Alarm')).toEqual({
    ref: 'WalletEu-X',
    attributes: { Arn },
  });
});

it('assigns each Elastic IP a loopback address, in template order', async () => {
  const Type = 'AWS::EC2::EIP';
  const { make } = open('eu-central-1', {
    Vpc: { Type: 'AWS::EC2::VPC' },
    Origin: { Type },
    Reserve: { Type },
  });
  const made = [await make('Reserve', Type), await make('Origin', Type)];
  expect(made.map(({ ref }) => ref)).toEqual(['127.0.0.2', '127.0.0.1']);
});

it('generates a secret once for each environment, and only its owner can read it', async () => {
  const master = {
    GenerateSecretString: {
      SecretStringTemplate: '{"username":"wallet_owner"}',
      GenerateStringKey: 'password',
      PasswordLength: 40,
    },
  };
  const [first, again, other] = [open(), open(), open('me-central-1')];
  for (const { make } of [first, again, other]) await make('Master', 'AWS::SecretsManager::Secret', master);
  expect(again.stored).toEqual(first.stored);
  expect(other.stored[0]?.value).not.toBe(first.stored[0]?.value);
  expect(JSON.parse(first.stored[0]?.value ?? '')).toEqual({
    username: 'wallet_owner',
    password: expect.stringMatching(/^\w{40}$/),
  });
  expect(statSync(first.context.folder.secretsFile).mode & 0o077).toBe(0);
});

describe('a custom resource', () => {
  /** Applies it in a new start, with a handler that returns this. */
  async function apply(properties: object, returned: object | Error = { PhysicalResourceId: 'keys' }) {
    const { context, make } = open();
    const events: object[] = [];
    const { attributes } = await make('Handler', 'AWS::Lambda::Function', code);
    const Variables = { USER_ON_EVENT_FUNCTION_ARN: attributes.Arn };
    const framework = await make('Framework', 'AWS::Lambda::Function', {
      ...code,
      Environment: { Variables },
    });
    const grant = { Effect: 'Allow', Action: ['lambda:*'], Resource: attributes.Arn };
    context.permissions.attachToRole(Role, { Statement: [grant] }, 'Role');
    Object.assign(context.services.functions.find(attributes.Arn), {
      async invoke(event: object) {
        events.push(event);
        return returned instanceof Error
          ? failed('Error', returned.message)
          : { ok: true, payload: returned };
      },
    });
    const ServiceToken = framework.attributes.Arn;
    const made = make('Keys', 'Custom::Keys', { ServiceToken, ...properties });
    return { resource: await made.catch((error: Error) => error.message), events };
  }

  it('is created on the first start, then left alone until its properties change', async () => {
    const first = await apply(
      { Arn: 'a', List: ['x'] },
      { PhysicalResourceId: 'keys', Data: { Jwks: '{}' } },
    );
    expect(first.resource).toEqual({ ref: 'keys', attributes: { Jwks: '{}' } });
    expect(first.events).toMatchObject([
      { RequestType: 'Create', ResourceType: 'Custom::Keys', ResourceProperties: { Arn: 'a', List: ['x'] } },
    ]);
    expect(await apply({ List: ['x'], Arn: 'a' })).toEqual({ resource: first.resource, events: [] });
    const { resource, events } = await apply({ Arn: 'b' }, {});
    expect(resource).toEqual({ ref: 'keys', attributes: {} });
    expect(events).toMatchObject([
      { RequestType: 'Update', PhysicalResourceId: 'keys', OldResourceProperties: { Arn: 'a', List: ['x'] } },
    ]);
  });

  it('fails with the reason of its handler, and is applied again by the next start', async () => {
    const { resource } = await apply({ Arn: 'a' }, new Error('0003-broken.sql: syntax error'));
    expect(resource).toBe('WalletEu: Create of Keys failed: 0003-broken.sql: syntax error');
    expect((await apply({ Arn: 'a' })).events).toMatchObject([{ RequestType: 'Create' }]);
    const update = await apply({ Arn: 'b' }, new Error('no'));
    expect(update.resource).toMatch(/^WalletEu: Update of Keys failed: no\n.*delete it with --fresh\.$/);
    expect((await apply({ Arn: 'a' })).events).toEqual([]);
  });
});
