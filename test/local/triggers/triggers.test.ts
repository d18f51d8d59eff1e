import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSRecord } from 'aws-lambda';
import type { LocalFunction } from '../../../local/function-runtime';
import { createAccessControl } from '../../../local/iam/access';
import { deployStack } from '../../../local/resources/deployment';
import { startTriggers, type Triggers } from '../../../local/triggers/triggers';
import { startTestQueues, type TestQueues } from '../../support/sqs';

let queues: TestQueues;
let triggers: Triggers | undefined;

beforeAll(async () => {
  queues = await startTestQueues();
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
  region: 'eu-central-1',
  assets: new Map(),
  template: {
    Conditions: { OriginIsAttached: { 'Fn::Equals': ['detached', 'attached'] } },
    Resources: {
      Fed: { Type: 'AWS::SQS::Queue' },
      Waiting: { Type: 'AWS::SQS::Queue' },
      Consumer: { Type: 'AWS::Lambda::Function' },
      FedSource: mapping('Fed', {
        BatchSize: 12,
        MaximumBatchingWindowInSeconds: 1,
        ScalingConfig: { MaximumConcurrency: 2 },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      }),
      WaitingSource: mapping('Waiting', { Enabled: { 'Fn::If': ['OriginIsAttached', true, false] } }),
    },
  },
};

it('feeds a function as each mapping of the template says, and not at all by one that is off', async () => {
  const [fed, waiting] = await Promise.all([queues.create(), queues.create()]);
  const made: Readonly<Record<string, typeof fed>> = { Fed: fed, Waiting: waiting };
  const deployed = await deployStack({
    stack,
    provisionOf:
      () =>
      async ({ logicalId }) => ({
        ref: logicalId,
        attributes: { Arn: made[logicalId]?.arn },
      }),
    secret: () => undefined,
  });
  await Promise.all(['bad', ...Array<string>(35).fill('good')].map((body) => fed.send(body)));
  await waiting.send('later');

  const batches: (readonly SQSRecord[])[] = [];
  let atOnce = 0;
  let most = 0;
  await new Promise<void>((allTaken) => {
    const invoke = async (event: unknown) => {
      const { Records } = event as { readonly Records: readonly SQSRecord[] };
      batches.push(Records);
      if (batches.flat().length >= 36) allTaken();
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
      functions: {
        find: () => ({ invoke }) as unknown as LocalFunction,
        identityOf: () => ({ accessKeyId: 'local', role: undefined }),
      },
      access: createAccessControl(),
      queues: queues.server,
      onProblem: (line) => {
        throw new Error(line);
      },
    });
  });
  await triggers?.stop();

  expect(batches.map(({ length }) => length)).toEqual([12, 12, 12]);
  expect(most).toBe(2);
  expect(await fed.count()).toEqual({ visible: 0, hidden: 1, delayed: 0 });
  expect(await waiting.count()).toEqual({ visible: 1, hidden: 0, delayed: 0 });
});
