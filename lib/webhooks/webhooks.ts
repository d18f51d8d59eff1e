import { Aws, Duration, Fn } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type CfnEventSourceMapping, EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import * as deliverWebhook from '../../lambda/deliver-webhook/variables';
import * as fanOutEvent from '../../lambda/fan-out-event/variables';
import { DatabaseFunction, type DatabaseFunctionProps } from '../database/database-function';
import type { SchemaMigration } from '../database/schema-migration';
import { type Environment, sharedKeysOf } from '../environment/schema';
import type { FunctionNetwork, HandlerFunction } from '../functions/handler-function';
import type { WebhookOrigin } from '../network/webhook-origin';
import { createSharedKey } from '../shared-key';
import { WebhookQueue } from './webhook-queue';

export interface WebhooksProps {
  readonly environment: Environment;
  readonly vpc: ec2.IVpc;
  readonly webhookOrigin: WebhookOrigin;
  readonly schema: SchemaMigration;
}

/**
 * Events become webhooks: events queue, fan-out, delivery queue, and delivery from the private subnets, whose only
 * way out is the webhook origin. While no gateway holds the origin, its consumers are disabled and messages wait.
 */
export class Webhooks extends Construct {
  readonly events: WebhookQueue;
  /** One message for each event and healthy webhook. */
  readonly deliveries: WebhookQueue;
  /** Retries, and first attempts to webhooks that were slow or failed. A separate consumer, so that they do not delay others. */
  readonly retries: WebhookQueue;
  /** Identifies the HMAC key that derives the webhooks' secrets. They are lost with it. */
  readonly secretsKeyArn: string;
  /** The private subnets, whose way out is the webhook origin. */
  readonly egress: FunctionNetwork;
  readonly fanOutEvent: HandlerFunction;
  readonly deliverWebhook: HandlerFunction;
  readonly purgeExpired: HandlerFunction;
  private readonly common: Pick<DatabaseFunctionProps, 'schema' | 'logRetention'>;

  constructor(
    scope: Construct,
    id: string,
    private readonly props: WebhooksProps,
  ) {
    super(scope, id);
    this.events = new WebhookQueue(this, 'Events', {
      logicalId: 'WebhookEvents',
      visibilitySeconds: fanOutEvent.visibilitySeconds,
    });
    this.deliveries = new WebhookQueue(this, 'Deliveries', {
      logicalId: 'WebhookDelivery',
      visibilitySeconds: deliverWebhook.visibilitySeconds,
    });
    this.retries = new WebhookQueue(this, 'Retries', {
      logicalId: 'WebhookRetry',
      visibilitySeconds: deliverWebhook.visibilitySeconds,
      deadLetters: this.deliveries.deadLetters,
    });
    const [secrets] = sharedKeysOf(props.environment);
    this.secretsKeyArn = createSharedKey(this, props.environment, secrets);
    this.common = { schema: props.schema, logRetention: props.environment.logRetentionDays };
    this.egress = this.networkWithEgress();
    this.deliverWebhook = this.deliver(this.egress);
    this.fanOutEvent = this.fanOut(props.schema.database.network && this.egress);
    this.purgeExpired = this.purge();
  }

  private fanOut(network: FunctionNetwork | undefined): HandlerFunction {
    const { queue, deadLetters } = this.events;
    const handler = new DatabaseFunction(this, 'FanOutEvent', {
      ...this.common,
      role: 'fan_out_event',
      handlerName: 'fan-out-event',
      description: 'Fans out each event: one message per subscribed webhook',
      variables: fanOutEvent.variables,
      environment: {
        EVENTS_QUEUE_URL: queue.queueUrl,
        EVENTS_DEAD_LETTER_QUEUE_URL: deadLetters.queueUrl,
        DELIVERY_QUEUE_URL: this.deliveries.queue.queueUrl,
        RETRY_QUEUE_URL: this.retries.queue.queueUrl,
      },
      timeout: Duration.seconds(fanOutEvent.timeoutSeconds),
      network,
    });
    allowSending(handler, deadLetters, this.deliveries.queue, this.retries.queue);
    this.consume(handler, queue, 10);
    return handler;
  }

  private deliver(network: FunctionNetwork): HandlerFunction {
    const { queue, deadLetters } = this.deliveries;
    const retries = this.retries.queue;
    const handler = new DatabaseFunction(this, 'DeliverWebhook', {
      ...this.common,
      role: 'deliver_webhook',
      handlerName: 'deliver-webhook',
      description: 'Delivers events to webhooks from the webhook origin',
      variables: deliverWebhook.variables,
      environment: {
        DELIVERY_QUEUE_URL: queue.queueUrl,
        RETRY_QUEUE_URL: retries.queueUrl,
        DELIVERY_DEAD_LETTER_QUEUE_URL: deadLetters.queueUrl,
        EVENTS_QUEUE_URL: this.events.queue.queueUrl,
        WEBHOOK_SECRETS_KEY_ID: this.secretsKeyArn,
        ENVIRONMENT: this.props.environment.name,
      },
      timeout: Duration.seconds(deliverWebhook.timeoutSeconds),
      network,
    });
    // The event queue, for `webhook.disabled`.
    allowSending(handler, deadLetters, retries, this.events.queue);
    handler.addToRolePolicy(
      new PolicyStatement({ actions: ['kms:GenerateMac'], resources: [this.secretsKeyArn] }),
    );
    this.consume(handler, queue, 20);
    this.consume(handler, retries, 20, 'Retry');
    return handler;
  }

  private purge(): HandlerFunction {
    const handler = new DatabaseFunction(this, 'PurgeExpired', {
      ...this.common,
      role: 'purge_expired',
      handlerName: 'purge-expired',
      description: 'Deletes expired attempts, events and user actions',
      isScheduled: true,
      variables: [],
      environment: {},
      timeout: Duration.minutes(5),
    });
    // Each run wakes a paused database.
    const pauses = this.props.environment.database.capacity.minimum === 0;
    new Rule(this, 'PurgeSchedule', {
      description: 'Deletes attempts older than 31 days, events older than 14 days, and expired user actions',
      schedule: Schedule.cron({ minute: '17', ...(pauses && { hour: '3' }) }),
      targets: [new LambdaFunction(handler, { retryAttempts: 2, maxEventAge: Duration.hours(2) })],
    });
    return handler;
  }

  /** Concurrency is bounded on the mapping: throttling of the function would count as receives. */
  private consume(handler: HandlerFunction, queue: Queue, maxConcurrency: number, name = ''): void {
    // Omits `sqs:GetQueueUrl`, which the CDK's grant includes and nothing calls.
    // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-permissions
    handler.addToRolePolicy(
      new PolicyStatement({
        actions: [
          'sqs:ChangeMessageVisibility',
          'sqs:DeleteMessage',
          'sqs:GetQueueAttributes',
          'sqs:ReceiveMessage',
        ],
        resources: [queue.queueArn],
      }),
    );
    const mapping = new EventSourceMapping(this, `${handler.node.id}${name}Source`, {
      target: handler,
      eventSourceArn: queue.queueArn,
      batchSize: 10,
      maxConcurrency,
      reportBatchItemFailures: true,
    });
    // In the VPC, the function reaches SQS and receivers through the origin's gateway.
    if (handler.isBoundToVpc)
      runWhileAttached(mapping.node.defaultChild as CfnEventSourceMapping, this.props.webhookOrigin);
  }

  /** The private subnets, with access to receivers' ports, and to the database where access is direct. */
  private networkWithEgress(): FunctionNetwork {
    const { vpc, schema } = this.props;
    const securityGroup = new ec2.SecurityGroup(this, 'Egress', {
      vpc,
      description: 'Webhooks: reach receivers and AWS by way of the webhook origin',
      allowAllOutbound: false,
    });
    // The ports that `readReceiverUrl` allows. The VPC's name server needs no rule.
    securityGroup.addEgressRule(ec2.Peer.anyIpv4(), ec2.Port.tcp(443), 'Receivers and AWS');
    securityGroup.addEgressRule(ec2.Peer.anyIpv4(), ec2.Port.tcpRange(1024, 65_535), 'Receivers');
    return {
      vpc,
      subnets: { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      securityGroups: [
        ...(schema.database.network?.securityGroups ?? []),
        securityGroup as ec2.ISecurityGroup,
      ],
    };
  }
}

/**
 * Enables a consumer while the origin is attached, and only after the routes exist: an attempt before that would fail and be
 * charged to the receiver. `DependsOn` cannot be conditional, and on a resource that does not exist it removes the consumer
 * too; a reference in the metadata has the same effect.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-condition.html
 * https://cloudonaut.io/optional-dependson-with-cloudformation-metadata-to-the-rescue
 */
function runWhileAttached(mapping: CfnEventSourceMapping, { isAttached, routes }: WebhookOrigin): void {
  mapping.addPropertyOverride('Enabled', Fn.conditionIf(isAttached.logicalId, true, false));
  const references = routes.map(({ ref }) => ref);
  mapping.addMetadata('After', Fn.conditionIf(isAttached.logicalId, references, Aws.NO_VALUE));
}

function allowSending(handler: HandlerFunction, ...queues: readonly Queue[]): void {
  handler.addToRolePolicy(
    new PolicyStatement({ actions: ['sqs:SendMessage'], resources: queues.map(({ queueArn }) => queueArn) }),
  );
}
