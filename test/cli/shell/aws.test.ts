import { KMS } from '@aws-sdk/client-kms';
import { ask, clientSettings } from '../../../cli/shell/aws';
import { first } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { writeOutputs } from '../../support/wallet-command';
import { acceptedBatch, operations, page, useAccount } from '../account';
import { organizationId, wallet } from '../region';

const account = useAccount();
const folder = temporaryFolder();

const refusal = (name: string, $fault = 'client') => ({ name, message: 'No.', $fault });
const network = (code: string) => ({ name: 'Error', message: 'No.', code });
const anAddressEach = { ...network('ENOTFOUND'), message: '', errors: [{ message: 'a' }, { message: 'b' }] };
it.each<[object, said: string, remedy: string | undefined]>([
  [refusal('AccessDeniedException'), 'AccessDeniedException: No', 'Sign in with a role that has kms:Sign.'],
  [{ name: 'CredentialsProviderError', message: 'None' }, 'None', 'Sign in to the account'],
  [refusal('InternalFailure', 'server'), 'InternalFailure: No', undefined],
  [network('SELF_SIGNED_CERT_IN_CHAIN'), 'No', 'NODE_EXTRA_CA_CERTS'],
  [network('ECONNREFUSED'), 'No', 'AWS_ENDPOINT_URL'],
  [anAddressEach, 'a, b', 'Check the'],
])('quotes AWS, with a remedy if one is known: %j', async (error, said, remedy) => {
  const sign = () => Promise.reject(Object.assign(new Error(), error));
  const client = { config: { serviceId: 'KMS' }, sign };
  await expect(ask(client as never, 'sign' as never, {} as never)).rejects.toMatchObject({
    message: `kms:Sign failed: ${said}.`,
    remedy: remedy && expect.stringContaining(remedy),
  });
});

it('says that a response is not from AWS', async () => {
  account().answer({ 'kms:*': () => page(200) });
  const client = new KMS(clientSettings(first.region));
  await expect(ask(client, 'sign', { KeyId: 'a' } as never)).rejects.toMatchObject({
    message: 'kms:Sign failed: a response with status 200 that is not from AWS.',
    remedy: expect.stringContaining('AWS_ENDPOINT_URL'),
  });
});

it('AWS_ENDPOINT_URL overrides the host in the URL of a queue', async () => {
  const QueueUrl = `https://sqs.${first.region}.amazonaws.com/123456789012/events`;
  const stack = { OperationsFunctionName: 'operations', WebhookEventsQueueUrl: QueueUrl };
  const outputs = writeOutputs(folder(), { [first.stackId]: stack });
  account().answer(acceptedBatch, { 'lambda:Invoke': operations({ 'list-webhooks': { webhooks: [] } }) });
  const command = ['send-event', '--organization', organizationId, '--kind', 'a.b', '--allow-production'];
  expect(await wallet(...command, '--outputs', outputs)).toMatchObject({ exitCode: 0 });
  expect(account().calls.at(-1)).toMatchObject({ service: 'sqs', input: { QueueUrl } });
});
