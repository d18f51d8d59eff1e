import type { OutputName } from '../../domain/outputs';
import { ask } from './aws';
import { CommandFailed } from './failure';
import type { Target } from './target';

interface OutgoingMessage {
  readonly body: string;
  /** The message group, for fair queuing. */
  readonly group: string;
}

/**
 * Puts up to ten messages on a queue. Needs `sqs:SendMessage`. The SDK may send them twice if a response is lost: our
 * consumers accept duplicates.
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
  const { Failed = [] } = await ask(client, 'sendMessageBatch', { QueueUrl: target.output(output), Entries });
  if (Failed[0])
    throw new CommandFailed(
      `The queue in ${output} rejected ${Failed.length} of ${messages.length} messages: ${Failed[0].Code}.`,
      'Try again in a minute: duplicates have the same webhook-id.',
    );
}
