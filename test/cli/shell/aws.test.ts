import { KMS } from '@aws-sdk/client-kms';
import { ask, clientSettings } from '../../../cli/shell/aws';
import { useAccount } from '../account';

const account = useAccount();

const denied = { name: 'AccessDeniedException', message: 'No.', $fault: 'client' };
const network = (code: string) => ({ name: 'Error', message: 'No.', code });
const anAddressEach = { ...network('ENOTFOUND'), message: '', errors: [{ message: 'a' }, { message: 'b' }] };
it.each<[object, said: string, remedy: string]>([
  [denied, 'AccessDeniedException: No', 'Sign in with a role that has kms:Sign.'],
  [{ name: 'CredentialsProviderError', message: 'None' }, 'None', 'Sign in to the account'],
  [network('SELF_SIGNED_CERT_IN_CHAIN'), 'No', 'NODE_EXTRA_CA_CERTS'],
  [network('ECONNREFUSED'), 'No', 'AWS_ENDPOINT_URL'],
  [anAddressEach, 'a, b', 'Check the'],
])('quotes AWS, with a remedy: %j', async (error, said, remedy) => {
  const sign = () => Promise.reject(Object.assign(new Error(), error));
  const client = { config: { serviceId: 'KMS' }, sign };
  await expect(ask(client as never, 'sign' as never, {} as never)).rejects.toMatchObject({
    message: `kms:Sign failed: ${said}.`,
    remedy: expect.stringContaining(remedy),
  });
});

it('says that a response is not from AWS', async () => {
  account().answer({ 'kms:*': () => ({ body: '<title>Sign in</title>' }) });
  const client = new KMS(clientSettings('eu-central-1'));
  await expect(ask(client, 'sign', { KeyId: 'a' } as never)).rejects.toMatchObject({
    message: 'kms:Sign failed: a response with status 200 that is not from AWS.',
    remedy: expect.stringContaining('AWS_ENDPOINT_URL'),
  });
});
