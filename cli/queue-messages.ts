import type { OutputName } from '../domain/outputs';
import { callAws, required } from './aws';
import { CommandFailed } from './failure';
import type { Target } from './target';

export interface OutgoingMessage {
  readonly body: string;
  /** The message group, which keeps the queue fair. */
  readonly group: string;
}

/**
 * Puts up to ten messages on a queue. Needs `sqs:SendMessage` on it. The SDK may send them again when an answer is lost: what
 * reads our queues takes a message that comes twice.
 *
 * @param output the stack output with the queue's URL
 */
export async function sendMessages(
  target: Target,
  output: OutputName,
  messages: readonly OutgoingMessage[],
): Promise<void> {
  const { SQS } = await import('@aws-sdk/client-sqs');
  const client = new SQS(target.clientSettings('sqs'));
  const batch = {
    QueueUrl: target.output(output),
    Entries: messages.map(({ body, group }, index) => ({
      Id: String(index),
      MessageBody: body,
      MessageGroupId: group,
    })),
  };
  const action = 'sqs:SendMessage';
  const { Failed = [], Successful } = await callAws(target, action, (call) =>
    client.sendMessageBatch(batch, call),
  );
  const [failed] = Failed;
  if (!failed) return void required(action, 'Successful', Successful);
  throw new CommandFailed(
    `The queue in ${output} refused ${Failed.length} of ${messages.length} messages: ${failed.Code}.`,
    'Run it again in a minute: what was sent twice keeps its webhook-id.',
  );
}
