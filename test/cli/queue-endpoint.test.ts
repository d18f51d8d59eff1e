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
      WebhookEventsDeadLetterQueueUrl: queueUrl,
    },
  }));
});
afterAll(() => aws.close());

/** SQS, with an empty queue, and the operations function. */
function answer({ url, headers, body }: Pick<LoopbackRequest, 'url' | 'headers' | 'body'>) {
  if (url.includes('/functions/')) return { body: JSON.stringify({ ok: true, result: { webhooks: [] } }) };
  const results: Readonly<Record<string, unknown>> = {
    SendMessageBatch: sentBatch(body),
    GetQueueAttributes: { Attributes: { ApproximateNumberOfMessages: '0' } },
    ReceiveMessage: {},
  };
  return { body: JSON.stringify(results[String(headers['x-amz-target']).split('.')[1] ?? '']) };
}

describe.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_SQS'])('%s', (variable) => {
  let restore: () => void;
  beforeAll(() => {
    const urls = { AWS_ENDPOINT_URL_LAMBDA: aws.url, [variable]: aws.url };
    restore = setVariables({ AWS_ENDPOINT_URL: undefined, ...urls });
  });
  afterAll(() => restore());

  it.each([
    [
      'send-event',
      '--organization',
      'or-aaaaa-bbbbb-cccccccccccccccc',
      '--kind',
      'a.b',
      '--allow-production',
    ],
  ])('leads %s past the host in the URL of a queue', async (...command) => {
    const warn = jest.spyOn(console, 'warn');
    aws.answer(answer);
    const printed = await wallet(...command, '--outputs', aws.outputs);
    expect(printed).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('error') });
    expect(aws.requests.map(({ body }) => JSON.parse(String(body)).QueueUrl)).toContain(queueUrl);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});
