import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalFunction } from '../../../lib/local/function-runtime';
import { type QueueServer, sqsRequest, startQueues } from '../../../lib/local/queues/queues';
import { provisionQueue } from '../../../lib/local/resources/queue';
import { deployStack } from '../../../lib/local/template/stack-deployment';
import type { SqsRecord } from '../../../lib/local/triggers/event-sources';
import { startTriggers, type Triggers } from '../../../lib/local/triggers/triggers';

const region = 'eu-central-1';
let queues: QueueServer;
let triggers: Triggers | undefined;

beforeAll(async () => {
  queues = await startQueues();
});
afterEach(() => triggers?.stop());
afterAll(() => queues.stop());

const mapping = (queue: string, properties: Readonly<Record<string, unknown>>) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: {
    EventSourceArn: { 'Fn::GetAtt': [queue, 'Arn'] },
    FunctionName: { Ref: 'Consumer' },
    ...properties,
  },
});

const stack = {
  name: 'WalletEu',
  region,
  assets: new Map(),
  template: {
    Conditions: { OriginIsAttached: { 'Fn::Equals': ['detached', 'attached'] } },
    Resources: {
      Fed: { Type: 'AWS::SQS::Queue' },
      Waiting: { Type: 'AWS::SQS::Queue' },
      Consumer: { Type: 'AWS::Lambda::Function' },
      FedSource: mapping('Fed', {
        BatchSize: 3,
        ScalingConfig: { MaximumConcurrency: 2 },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      }),
      WaitingSource: mapping('Waiting', { Enabled: { 'Fn::If': ['OriginIsAttached', true, false] } }),
    },
  },
};

const sqs = <Answer>(action: string, body: object) =>
  sqsRequest<Answer>({ url: queues.url, region }, action, body);

const send = (QueueUrl: string, ...bodies: string[]) =>
  sqs('SendMessageBatch', {
    QueueUrl,
    Entries: bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody })),
  });

async function left(QueueUrl: string) {
  const { Attributes } = await sqs<{ Attributes: Record<string, string> }>('GetQueueAttributes', {
    QueueUrl,
    AttributeNames: ['All'],
  });
  return {
    visible: Number(Attributes.ApproximateNumberOfMessages),
    hidden: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
  };
}

it('feeds a function as each mapping of the template says, and not at all by one that is off', async () => {
  const provisionMade = provisionQueue({ stackName: stack.name, region }, queues);
  const deployed = await deployStack({
    stack,
    provisionOf: (type) =>
      type === 'AWS::SQS::Queue' ? provisionMade : async ({ logicalId: ref }) => ({ ref, attributes: {} }),
    secret: () => undefined,
  });
  const urlOf = (logicalId: string) => String(deployed.resources.get(logicalId)?.ref);
  await send(urlOf('Fed'), '1', '2', '3', '4', '5', '6', 'bad');
  await send(urlOf('Waiting'), 'later');

  const batches: (readonly SqsRecord[])[] = [];
  let atOnce = 0;
  let most = 0;
  await new Promise<void>((allTaken) => {
    const invoke = async (event: unknown) => {
      const { Records } = event as { readonly Records: readonly SqsRecord[] };
      batches.push(Records);
      if (batches.flat().length >= 7) allTaken();
      most = Math.max(most, ++atOnce);
      await sleep(100);
      atOnce -= 1;
      const bad = Records.filter(({ body }) => body === 'bad');
      const batchItemFailures = bad.map(({ messageId }) => ({ itemIdentifier: messageId }));
      return { ok: true, payload: { batchItemFailures } } as const;
    };
    triggers = startTriggers({
      stack,
      deployed,
      functions: { find: () => ({ invoke }) as unknown as LocalFunction },
      queues,
      onProblem: (line) => {
        throw new Error(line);
      },
    });
  });
  await triggers?.stop();

  expect(batches.map(({ length }) => length)).toEqual([3, 3, 1]);
  expect(most).toBe(2);
  expect(await left(urlOf('Fed'))).toEqual({ visible: 0, hidden: 1 });
  expect(await left(urlOf('Waiting'))).toEqual({ visible: 1, hidden: 0 });
});
