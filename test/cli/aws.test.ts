import { KMS } from '@aws-sdk/client-kms';
import { ask, clientSettings } from '../../cli/aws';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { unusedPort } from '../support/unused-port';
import { acceptedBatch, operations, page, setVariables, useAccount } from './account';
import { wallet } from './region';

const refusal = (name: string, $fault = 'client') => ({ name, message: 'No.', $fault });
/** A call of a client that fails so. */
const failing = (error: Error) => {
  const client = { config: { serviceId: 'KMS' }, sign: (_: object, __?: object) => Promise.reject(error) };
  return ask(client as never, 'sign' as never, {} as never);
};
const network = (code: string) => ({ name: 'Error', message: 'No.', code });

it.each<[object, said: string, remedy: string | undefined]>([
  [refusal('AccessDeniedException'), 'AccessDeniedException: No', 'Sign in with a role that has kms:Sign.'],
  [refusal('UnauthorizedOperation'), 'UnauthorizedOperation: No', 'Sign in with a role that has kms:Sign.'],
  [refusal('ExpiredTokenException'), 'ExpiredTokenException: No', 'Sign in to the account'],
  [{ name: 'CredentialsProviderError', message: 'None' }, 'None', 'Sign in to the account'],
  [refusal('InvalidClientTokenId'), 'InvalidClientTokenId: No', 'region is enabled'],
  [refusal('NotFoundException'), 'NotFoundException: No', undefined],
  [refusal('InternalFailure', 'server'), 'InternalFailure: No', undefined],
  [network('SELF_SIGNED_CERT_IN_CHAIN'), 'No', 'NODE_EXTRA_CA_CERTS'],
  [
    { ...network('ENOTFOUND'), message: '', errors: [{ message: 'a' }, { message: 'b' }] },
    'a, b',
    'Check the',
  ],
])('quotes AWS, with a remedy if one is known: %j', async (error, said, remedy) => {
  await expect(failing(Object.assign(new Error(), error))).rejects.toMatchObject({
    message: `kms:Sign failed: ${said}.`,
    remedy: remedy && expect.stringContaining(remedy),
  });
});

it('passes a bug on', async () => {
  const bug = new TypeError('x is not a function');
  await expect(failing(bug)).rejects.toBe(bug);
});

describe('with the real SDK', () => {
  const account = useAccount();
  const folder = temporaryFolder();
  const sign = () => ask(new KMS(clientSettings(first.region)), 'sign', { KeyId: 'a' } as never);

  it.each([
    [200, page(200)],
    [502, page(502)],
    [404, { status: 404, headers: { 'content-type': 'application/json' }, body: '{"error":"gone"}' }],
  ])('says that a response with status %i is not from AWS', async (status, answer) => {
    account().answer({ 'kms:*': () => answer });
    await expect(sign()).rejects.toMatchObject({
      message: `kms:Sign failed: a response with status ${status} that is not from AWS.`,
      remedy: expect.stringContaining('AWS_ENDPOINT_URL'),
    });
  });

  it('names the remedy when nothing listens', async () => {
    const restore = setVariables({ AWS_ENDPOINT_URL: `http://127.0.0.1:${await unusedPort()}` });
    await expect(sign()).rejects.toMatchObject({ remedy: expect.stringContaining('AWS_ENDPOINT_URL') });
    restore();
  });

  it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_SQS'])(
    '%s overrides the host in the URL of a queue',
    async (name) => {
      const { url } = account();
      const QueueUrl = `https://sqs.${first.region}.amazonaws.com/123456789012/events`;
      const stack = { OperationsFunctionName: 'operations', WebhookEventsQueueUrl: QueueUrl };
      account().answer(acceptedBatch, { 'lambda:Invoke': operations({ 'list-webhooks': { webhooks: [] } }) });
      const restore = setVariables({
        AWS_ENDPOINT_URL: undefined,
        AWS_ENDPOINT_URL_LAMBDA: url,
        [name]: url,
      });
      const outputs = writeOutputs(folder(), { [first.stackId]: stack });
      const organization = ['--organization', 'or-aaaaa-bbbbb-cccccccccccccccc'];
      const command = ['send-event', ...organization, '--kind', 'a.b', '--allow-production'];
      const { exitCode } = await wallet(...command, '--outputs', outputs).finally(restore);
      expect(exitCode).toBe(0);
      expect(account().calls.at(-1)).toMatchObject({ service: 'sqs', input: { QueueUrl } });
    },
  );
});
