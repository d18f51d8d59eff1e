import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openSecrets } from '../../../local/resources/secrets';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const put: { arn: string; value: string }[] = [];
beforeEach(() => void put.splice(0));

function provision(properties: object, region = 'eu-central-1', file = 'secrets.json') {
  const store = { put: (secret: { arn: string; value: string }) => void put.push(secret) };
  const secrets = openSecrets({ name: 'WalletEu', region }, join(folder(), file), store);
  const request = { logicalId: 'Master', type: '', properties: { ...properties } };
  return secrets.provision(request).then(({ ref }) => ({ secrets, ref }));
}

const generated = {
  GenerateSecretString: {
    SecretStringTemplate: '{"username":"wallet_owner"}',
    GenerateStringKey: 'password',
    PasswordLength: 40,
    ExcludeCharacters: ' %+~`#$&*()|[]{}:;<>?!\'/@"\\=^,',
  },
};

it('generates a secret once, keeps it for later runs, and only its owner can read it', async () => {
  const { ref } = await provision(generated);
  expect((await provision(generated)).ref).toBe(ref);
  expect(put[1]).toEqual(put[0]);
  const { username, password } = JSON.parse(put[0]?.value ?? '');
  expect(username).toBe('wallet_owner');
  expect(password).toMatch(/^[A-Za-z0-9._-]{40}$/);
  expect(statSync(join(folder(), 'secrets.json')).mode & 0o077).toBe(0);
});

it('gives each environment its own secret', async () => {
  await provision(generated);
  await provision(generated, 'me-central-1', 'other.json');
  expect(new Set(put.map(({ value }) => value)).size).toBe(2);
  expect(new Set(put.map(({ arn }) => arn)).size).toBe(2);
});

it('resolves dynamic references by ARN and by name', async () => {
  const { ref, secrets } = await provision({ SecretString: '{"a":"b"}' });
  expect(secrets.resolve({ text: '', secretId: ref, jsonKey: 'a' })).toBe('b');
  expect(secrets.resolve({ text: '', secretId: 'Master', jsonKey: undefined })).toBe('{"a":"b"}');
  expect(secrets.resolve({ text: '', secretId: 'Other', jsonKey: 'a' })).toBeUndefined();
});
