import type { OutputName } from '../domain/outputs';
import { callAws } from './aws';
import { CommandFailed } from './failure';
import type { Target } from './target';

interface OutgoingMessage {
  readonly body: string;
  /** The message group, which keeps the queue fair. */
  readonly group: string;
}

/**
 * Puts up to ten messages on a queue. Needs `sqs:SendMessage`. The SDK may send them twice when an answer is lost: the
 * consumers of our queues accept duplicates.
 *
 * @param output the stack output with the queue's URL
 */
export async function sendMessages(target: Target, output: OutputName, messages: readonly OutgoingMessage[]) {
  const { SQS } = await import('@aws-sdk/client-sqs');
  const client = new SQS(target.clientSettings('sqs'));
  const Entries = messages.map(({ body, group }, index) => ({
    Id: String(index),
    MessageBody: body,
    MessageGroupId: group,
  }));
  const { Failed = [] } = await callAws(target, 'sqs:SendMessage', (options) =>
    client.sendMessageBatch({ QueueUrl: target.output(output), Entries }, options),
  );
  if (Failed[0])
    throw new CommandFailed(
      `The queue in ${output} refused ${Failed.length} of ${messages.length} messages: ${Failed[0].Code}.`,
      'Run it again in a minute: a message that was sent twice has the same webhook-id.',
    );
}
