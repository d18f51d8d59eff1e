import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { withStableLogicalId } from '../stable-logical-id';

export interface WebhookQueueProps {
  /** Prefix of the queue's and the dead-letter queue's logical ids. */
  readonly logicalId: string;
  /**
   * When messages of a killed function are received again: a little above the function's timeout, below which Lambda refuses the
   * queue. AWS advises six times the timeout, because retries that come early use up receives; here they make no request.
   * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
   */
  readonly visibilitySeconds: number;
  /** @default - a dead-letter queue of its own */
  readonly deadLetters?: Queue;
}

/** A queue of the webhook pipeline, with its dead-letter queue. Messages wait 14 days in either, and outlive the stack. */
export class WebhookQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, props: WebhookQueueProps) {
    super(scope, id);
    const { logicalId, visibilitySeconds, deadLetters } = props;
    this.deadLetters =
      deadLetters ??
      withStableLogicalId(new Queue(this, 'DeadLetters', settings), `${logicalId}DeadLetterQueue`);
    this.queue = withStableLogicalId(
      new Queue(this, 'Messages', {
        ...settings,
        maxMessageSizeBytes: maxMessageBytes - reasonBytes,
        visibilityTimeout: Duration.seconds(visibilitySeconds),
        deadLetterQueue: { queue: this.deadLetters, maxReceiveCount },
      }),
      `${logicalId}Queue`,
    );
  }
}

/**
 * SQS's maximum: receives count only our own faults, since the function itself moves unreadable messages, and a retry is a new message.
 * `backoffSeconds` makes them last for the 14 days. A message that kills its function is out after 1,000 visibility timeouts: 17 hours.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue.html
 */
const maxReceiveCount = 1_000;

/** Events are at most 64 KiB; JSON escapes can double that in deliveries. */
const maxMessageBytes = 256 * 1024;
/** A dead letter also contains the reason. */
const reasonBytes = 1024;

const settings = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  // SQS's maximum.
  retentionPeriod: Duration.days(14),
  maxMessageSizeBytes: maxMessageBytes,
  removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
};
