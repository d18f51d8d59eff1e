import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { type SecretsManager, startSecretsManager } from '../../../local/services/secrets-manager';
import { localClient } from '../../support/aws-client';

const arn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:database-owner-a1b2c3';
const value = '{"username":"owner","password":"p"}';

let server: SecretsManager;
let client: SecretsManagerClient;

beforeEach(async () => {
  server = await startSecretsManager();
  server.put({ arn, name: 'database-owner', value });
  client = new SecretsManagerClient(localClient(server.url));
});

afterEach(async () => {
  client.destroy();
  await server.close();
});

const get = (SecretId: string, more: object = {}) =>
  client.send(new GetSecretValueCommand({ SecretId, ...more }));

test.each([arn, 'database-owner', arn.replace('-a1b2c3', '')])('a secret is found by %s', async (id) => {
  expect(await get(id)).toMatchObject({
    ARN: arn,
    Name: 'database-owner',
    SecretString: value,
    VersionStages: ['AWSCURRENT'],
    CreatedDate: expect.any(Date),
  });
});

test('its version is found by stage and id, and changes with the value', async () => {
  const { VersionId } = await get(arn, { VersionStage: 'AWSCURRENT' });
  expect(await get(arn, { VersionId })).toMatchObject({ SecretString: value });
  server.put({ arn, name: 'database-owner', value: 'other' });
  expect(await get(arn)).toMatchObject({ SecretString: 'other' });
  await expect(get(arn, { VersionId })).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test.each([
  ['unknown', {}],
  [arn, { VersionStage: 'AWSPENDING' }],
])('%s %j is not found', async (id, more) => {
  await expect(get(id, more)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test('a description has no value', async () => {
  const described = await client.send(new DescribeSecretCommand({ SecretId: arn }));
  expect(described).toMatchObject({ ARN: arn, Name: 'database-owner' });
  expect(JSON.stringify(described)).not.toContain('password');
});

test.each([
  ['no target', {}, '{}', 'UnknownOperationException'],
  ['another service', { 'x-amz-target': 'TrentService.Sign' }, '{}', 'UnknownOperationException'],
  [
    'a name from the prototype',
    { 'x-amz-target': 'secretsmanager.toString' },
    '{}',
    'UnknownOperationException',
  ],
  ['no JSON', { 'x-amz-target': 'secretsmanager.GetSecretValue' }, '{', 'SerializationException'],
  ['no object', { 'x-amz-target': 'secretsmanager.GetSecretValue' }, '[]', 'SerializationException'],
  ['no secret id', { 'x-amz-target': 'secretsmanager.GetSecretValue' }, '{}', 'ValidationException'],
])('%s is refused by name', async (_, headers, body, name) => {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body,
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ __type: name });
});
