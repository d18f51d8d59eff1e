import { KMS } from '@aws-sdk/client-kms';
import { callAws, clientSettings } from '../../cli/aws';
import { first } from '../support/rows';
import { unusedPort } from '../support/unused-port';
import { setVariables } from './account';
import { page, sentBatch, startAwsEndpoint } from './aws-endpoint';
import { wallet } from './region';

const refusal = (name: string, $fault = 'client') => ({ name, message: 'No.', $fault });
const network = (code: string) => ({ name: 'Error', message: 'No.', code });

it.each<[object, said: string, remedy: string | undefined]>([
  [refusal('AccessDenied'), 'AccessDenied: No', 'Sign in with a role that has kms:Sign.'],
  [refusal('AccessDeniedException'), 'AccessDeniedException: No', 'Sign in with a role that has kms:Sign.'],
  [refusal('UnauthorizedOperation'), 'UnauthorizedOperation: No', 'Sign in with a role that has kms:Sign.'],
  [refusal('ExpiredTokenException'), 'ExpiredTokenException: No', 'Sign in to the account'],
  [{ name: 'CredentialsProviderError', message: 'None' }, 'None', 'Sign in to the account'],
  [refusal('InvalidClientTokenId'), 'InvalidClientTokenId: No', 'region is enabled'],
  [refusal('ThrottlingException'), 'ThrottlingException: No', 'Wait a minute'],
  [refusal('NotFoundException'), 'NotFoundException: No', undefined],
  [refusal('InternalFailure', 'server'), 'InternalFailure: No', undefined],
  [network('ENOTFOUND'), 'No', 'Check the network'],
  [
    { ...network('ECONNREFUSED'), message: '', errors: [{ message: 'a' }, { message: 'b' }] },
    'a, b',
    'Check the',
  ],
  [network('SELF_SIGNED_CERT_IN_CHAIN'), 'No', 'NODE_EXTRA_CA_CERTS'],
])('quotes AWS, with a remedy if one is known: %j', async (error, said, remedy) => {
  const call = callAws(undefined, 'kms:Sign', () => Promise.reject(Object.assign(new Error(), error)));
  await expect(call).rejects.toMatchObject({
    message: `kms:Sign failed: ${said}.`,
    remedy: remedy && expect.stringContaining(remedy),
  });
});

it('passes a bug on', async () => {
  const bug = new TypeError('x is not a function');
  await expect(callAws(undefined, 'kms:Sign', () => Promise.reject(bug))).rejects.toBe(bug);
});

describe('with the real SDK', () => {
  const queueUrl = `https://sqs.${first.region}.amazonaws.com/123456789012/events`;
  let aws: Awaited<ReturnType<typeof startAwsEndpoint>>;
  beforeAll(async () => {
    aws = await startAwsEndpoint(() => ({
      [first.stackId]: { OperationsFunctionName: 'operations', WebhookEventsQueueUrl: queueUrl },
    }));
  });
  afterAll(() => aws.close());

  const sign = () =>
    callAws(undefined, 'kms:Sign', (options) =>
      new KMS(clientSettings(first.region)).describeKey({ KeyId: 'a' }, options),
    );

  it.each([
    [200, page(200)],
    [502, page(502)],
    [404, { status: 404, headers: { 'content-type': 'application/json' }, body: '{"error":"gone"}' }],
  ])('says that a response with status %i is not from AWS', async (status, answer) => {
    aws.answer(() => answer);
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
    async (variable) => {
      const urls = { AWS_ENDPOINT_URL_LAMBDA: aws.url, [variable]: aws.url };
      const restore = setVariables({ AWS_ENDPOINT_URL: undefined, ...urls });
      aws.answer(({ url, body }) => ({
        body: JSON.stringify(
          url.includes('/functions/') ? { ok: true, result: { webhooks: [] } } : sentBatch(body),
        ),
      }));
      const organization = ['--organization', 'or-aaaaa-bbbbb-cccccccccccccccc'];
      const command = ['send-event', ...organization, '--kind', 'a.b', '--allow-production'];
      const printed = await wallet(...command, '--outputs', aws.outputs).finally(restore);
      expect(printed).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('error') });
      expect(aws.requests.map(({ body }) => JSON.parse(String(body)).QueueUrl)).toContain(queueUrl);
    },
  );
});
