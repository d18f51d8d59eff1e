import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { withStableLogicalId } from './stable-logical-id';

/** The queue on which the service puts the events that become webhooks. */
export class Webhooks extends Construct {
  readonly eventsQueue: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const deadLetters = withStableLogicalId(
      new Queue(this, 'EventsDeadLetters', { ...keptMessages }),
      'WebhookEventsDeadLetterQueue',
    );
    this.eventsQueue = withStableLogicalId(
      new Queue(this, 'Events', {
        ...keptMessages,
        deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
      }),
      'WebhookEventsQueue',
    );
  }
}

/** Messages wait as long as SQS allows, and outlive the stack. */
const keptMessages = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
  removalPolicy: RemovalPolicy.RETAIN,
};
