import type { LoopbackRequest } from '../../local/network/loopback-server';
import { first } from '../support/rows';
import { sentBatch, setVariables, startAwsEndpoint } from './aws-endpoint';
import { wallet } from './region';

const queueUrl = `https://sqs.${first.region}.amazonaws.com/123456789012/events`;
let aws: Awaited<ReturnType<typeof startAwsEndpoint>>;
beforeAll(async () => {
  aws = await startAwsEndpoint(() => ({
    [first.stackId]: {
      OperationsFunctionName: 'operations',
      WebhookEventsQueueUrl: queueUrl,
    },
  }));
});
afterAll(() => aws.close());

/** SQS, and the operations function. */
function answer({ url, body }: Pick<LoopbackRequest, 'url' | 'body'>) {
  if (url.includes('/functions/')) return { body: JSON.stringify({ ok: true, result: { webhooks: [] } }) };
  return { body: JSON.stringify(sentBatch(body)) };
}

it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_SQS'])(
  '%s leads past the host in the URL of a queue',
  async (variable) => {
    const urls = { AWS_ENDPOINT_URL_LAMBDA: aws.url, [variable]: aws.url };
    const restore = setVariables({ AWS_ENDPOINT_URL: undefined, ...urls });
    aws.answer(answer);
    const organization = ['--organization', 'or-aaaaa-bbbbb-cccccccccccccccc'];
    const command = ['send-event', ...organization, '--kind', 'a.b', '--allow-production'];
    const printed = await wallet(...command, '--outputs', aws.outputs).finally(restore);
    expect(printed).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('error') });
    expect(aws.requests.map(({ body }) => JSON.parse(String(body)).QueueUrl)).toContain(queueUrl);
  },
);
