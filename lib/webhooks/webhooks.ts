import { Aws, Duration, Fn } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { type CfnEventSourceMapping, EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import * as deliverWebhook from '../../lambda/deliver-webhook/variables';
import * as fanOutEvent from '../../lambda/fan-out-event/variables';
import { DatabaseFunction } from '../database/database-function';
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

  constructor(scope: Construct, id: string, { environment, vpc, webhookOrigin, schema }: WebhooksProps) {
    super(scope, id);
    this.events = new WebhookQueue(this, 'Events', {
      logicalId: 'WebhookEvents',
      visibilitySeconds: fanOutEvent.visibilitySeconds,
    });
    const { visibilitySeconds } = deliverWebhook;
    this.deliveries = new WebhookQueue(this, 'Deliveries', {
      logicalId: 'WebhookDelivery',
      visibilitySeconds,
    });
    const { deadLetters } = this.deliveries;
    this.retries = new WebhookQueue(this, 'Retries', {
      logicalId: 'WebhookRetry',
      visibilitySeconds,
      deadLetters,
    });
    const [events, deliveries, retries] = [this.events.queue, this.deliveries.queue, this.retries.queue];
    const [secrets] = sharedKeysOf(environment);
    this.secretsKeyArn = createSharedKey(this, environment, secrets);
    const inDatabase = schema.database.network;
    this.egress = {
      vpc,
      vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      securityGroups: [...(inDatabase?.securityGroups ?? []), this.egressToReceivers(vpc)],
    };

    const common = { schema, logRetention: environment.logRetentionDays };
    this.deliverWebhook = new DatabaseFunction(this, 'DeliverWebhook', {
      ...common,
      role: 'deliver_webhook',
      handlerName: 'deliver-webhook',
      description: 'Delivers events to webhooks from the webhook origin',
      variables: deliverWebhook.variables,
      environment: {
        DELIVERY_QUEUE_URL: deliveries.queueUrl,
        RETRY_QUEUE_URL: retries.queueUrl,
        DELIVERY_DEAD_LETTER_QUEUE_URL: deadLetters.queueUrl,
        EVENTS_QUEUE_URL: events.queueUrl,
        WEBHOOK_SECRETS_KEY_ID: this.secretsKeyArn,
        ENVIRONMENT: environment.name,
      },
      timeout: Duration.seconds(deliverWebhook.timeoutSeconds),
      network: this.egress,
    });
    // The event queue, for `webhook.disabled`.
    this.deliverWebhook.allow(['sqs:SendMessage'], deadLetters.queueArn, retries.queueArn, events.queueArn);
    this.deliverWebhook.allow(['kms:GenerateMac'], this.secretsKeyArn);
    this.consume(webhookOrigin, this.deliverWebhook, deliveries, 20);
    this.consume(webhookOrigin, this.deliverWebhook, retries, 20, 'Retry');
    this.fanOutEvent = new DatabaseFunction(this, 'FanOutEvent', {
      ...common,
      role: 'fan_out_event',
      handlerName: 'fan-out-event',
      description: 'Fans out each event: one message per subscribed webhook',
      variables: fanOutEvent.variables,
      environment: {
        EVENTS_QUEUE_URL: events.queueUrl,
        EVENTS_DEAD_LETTER_QUEUE_URL: this.events.deadLetters.queueUrl,
        DELIVERY_QUEUE_URL: deliveries.queueUrl,
        RETRY_QUEUE_URL: retries.queueUrl,
      },
      timeout: Duration.seconds(fanOutEvent.timeoutSeconds),
      network: inDatabase && this.egress,
    });
    const fannedOut = [this.events.deadLetters.queueArn, deliveries.queueArn, retries.queueArn];
    this.fanOutEvent.allow(['sqs:SendMessage'], ...fannedOut);
    this.consume(webhookOrigin, this.fanOutEvent, events, 10);
    this.purgeExpired = new DatabaseFunction(this, 'PurgeExpired', {
      ...common,
      role: 'purge_expired',
      handlerName: 'purge-expired',
      description: 'Deletes expired attempts, events and user actions',
      isScheduled: true,
      variables: [],
      environment: {},
      timeout: Duration.minutes(5),
    });
    // Each run wakes a paused database.
    const pauses = environment.database.capacity.minimum === 0;
    new Rule(this, 'PurgeSchedule', {
      description: 'Deletes attempts older than 31 days, events older than 14 days, and expired user actions',
      schedule: Schedule.cron({ minute: '17', ...(pauses && { hour: '3' }) }),
      targets: [new LambdaFunction(this.purgeExpired, { retryAttempts: 2, maxEventAge: Duration.hours(2) })],
    });
  }

  /** Concurrency is bounded on the mapping: throttling of the function would count as receives. */
  private consume(
    origin: WebhookOrigin,
    handler: HandlerFunction,
    { queueArn }: Queue,
    maxConcurrency: number,
    name = '',
  ): void {
    // Omits `sqs:GetQueueUrl`, which the CDK's grant includes and nothing calls.
    // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-permissions
    const calls = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'];
    handler.allow(
      calls.map((call) => `sqs:${call}`),
      queueArn,
    );
    const mapping = new EventSourceMapping(this, `${handler.node.id}${name}Source`, {
      target: handler,
      eventSourceArn: queueArn,
      batchSize: 10,
      maxConcurrency,
      reportBatchItemFailures: true,
    });
    // In the VPC, the function reaches SQS and receivers through the origin's gateway.
    if (handler.isBoundToVpc) runWhileAttached(mapping.node.defaultChild as CfnEventSourceMapping, origin);
  }

  /** Access to receivers' ports, those that `readReceiverUrl` allows. The VPC's name server needs no rule. */
  private egressToReceivers(vpc: ec2.IVpc): ec2.ISecurityGroup {
    const group = new ec2.SecurityGroup(this, 'Egress', {
      vpc,
      description: 'Webhooks: reach receivers and AWS by way of the webhook origin',
      allowAllOutbound: false,
    });
    group.addEgressRule(ec2.Peer.anyIpv4(), ec2.Port.tcp(443), 'Receivers and AWS');
    group.addEgressRule(ec2.Peer.anyIpv4(), ec2.Port.tcpRange(1024, 65_535), 'Receivers');
    return group;
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
