import { type NewEvent, parseEvent, writeEvent } from '../../domain/event';
import type { Webhook } from '../../domain/operations';
import type { OutputName } from '../../domain/outputs';
import { callAws } from '../shell/aws';
import type { DeployedEnvironment } from '../shell/deployed-environment';
import { CommandFailed, UsageError } from '../shell/failure';
import { runOperation } from '../shell/operations';

interface OutgoingMessage {
  readonly body: string;
  readonly group: string;
}

/** Puts up to ten messages on an output's queue. The SDK may send them twice: our consumers accept duplicates. */
export async function sendMessages(
  target: DeployedEnvironment,
  output: OutputName,
  messages: readonly OutgoingMessage[],
) {
  const { SQS } = await import('@aws-sdk/client-sqs');
  const client = new SQS(target.clientSettings('sqs'));
  const Entries = messages.map(({ body, group }, index) => ({
    Id: String(index),
    MessageBody: body,
    MessageGroupId: group,
  }));
  const { Failed = [] } = await callAws(client, 'sendMessageBatch', {
    QueueUrl: target.output(output),
    Entries,
  });
  if (Failed[0])
    throw new CommandFailed(
      `The queue in ${output} rejected ${Failed.length} of ${messages.length} messages: ${Failed[0].Code}.`,
      'Try again in a minute: duplicates have the same webhook-id.',
    );
}

/** An event's text, dated now. @throws UsageError if the fan-out would refuse it */
export function checkEvent(event: NewEvent): string {
  const body = writeEvent(event);
  const parsed = parseEvent(body);
  if (!parsed.ok) throw new UsageError(parsed.error, 'Change --data.');
  return body;
}

/** Puts an event on the region's queue. */
export const putEvent = (target: DeployedEnvironment, organizationId: string, body: string): Promise<void> =>
  sendMessages(target, 'WebhookEventsQueueUrl', [{ body, group: organizationId }]);

/** @throws CommandFailed if it is disabled, or OperationRefused `webhook_not_found` */
export async function describeEnabledWebhook(
  target: DeployedEnvironment,
  webhookId: string,
): Promise<Webhook> {
  const webhook = await runOperation(target, 'describe-webhook', { webhookId });
  if (webhook.enabled) return webhook;
  throw new CommandFailed(
    `${webhookId} is disabled (${webhook.disabledReason}): deliveries to it are dropped.`,
    `Enable it first: ${target.walletCommand(`webhook enable --webhook ${webhookId}`)}`,
  );
}
