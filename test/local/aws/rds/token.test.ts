import { Signer } from '@aws-sdk/rds-signer';
import { checkToken } from '../../../../local/aws/rds/token';

const credentials = {
  accessKeyId: 'LOCALKEY',
  secretAccessKey: 'local-secret',
  sessionToken: 'local/session+token==',
};
const audience = { host: 'localhost', port: 5432, region: 'me-central-1', user: 'purge_expired' };

const token = (different: Partial<ConstructorParameters<typeof Signer>[0]> = {}): Promise<string> =>
  new Signer({
    ...{ hostname: audience.host, port: audience.port, region: audience.region, username: audience.user },
    ...{ credentials, ...different },
  }).getAuthToken();
const signedWith = (other: Partial<typeof credentials>) =>
  token({ credentials: { ...credentials, ...other } });
const changed = async (part: RegExp, other: string) => (await token()).replace(part, other);

const check = (given: string, now = new Date()) =>
  checkToken(given, audience, (id) => (id === credentials.accessKeyId ? credentials : undefined), now);

const another = 'signed with another key, or for another host, port, region or user';
it.each<[string, () => Promise<string>, string]>([
  ['of another user', () => token({ username: 'by_password' }), another],
  ['for another port', () => token({ port: 1 }), another],
  ['of another secret', () => signedWith({ secretAccessKey: 'X' }), another],
  ['of an unknown access key', () => signedWith({ accessKeyId: 'X' }), 'unknown access key'],
  ['that is a password', async () => 'unused', 'unknown access key'],
  ['without a date', () => changed(/X-Amz-Date=/, 'X='), 'its date is missing, malformed or in the future'],
])('refuses a token %s', async (_, made, refusal) => {
  expect(await check(await made())).toEqual({ refusal });
});

it.each([
  [-360, { refusal: 'its date is missing, malformed or in the future' }],
  [890, { accessKeyId: 'LOCALKEY' }],
  [901, { refusal: 'it has expired' }],
])('a token created %s seconds ago: %j', async (seconds, result) => {
  expect(await check(await token(), new Date(Date.now() + seconds * 1_000))).toEqual(result);
});
