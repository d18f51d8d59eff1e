import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import { probeMinutes } from '../../domain/probe';
import { checkPath } from '../../domain/routes';
import { variables } from '../../lambda/probe-webhooks/variables';
import { DatabaseFunction } from '../database/database-function';
import type { SchemaMigration } from '../database/schema-migration';
import type { Environment } from '../environment/schema';
import type { Webhooks } from './webhooks';

export interface ProbeProps {
  readonly environment: Environment;
  readonly schema: SchemaMigration;
  readonly webhooks: Webhooks;
  /** Base address of the API with the environment's own receiver. */
  readonly apiUrl: string;
}

/** Sends an event every five minutes that the environment's own receiver verifies: the proof that webhooks work. */
export class Probe extends Construct {
  readonly handler: DatabaseFunction;

  constructor(scope: Construct, id: string, { environment, schema, webhooks, apiUrl }: ProbeProps) {
    super(scope, id);
    const { queue } = webhooks.events;
    this.handler = new DatabaseFunction(this, 'ProbeWebhooks', {
      handlerName: 'probe-webhooks',
      role: 'probe_webhooks',
      schema,
      description: "Sends an event to the environment's own receiver",
      isScheduled: true,
      variables,
      environment: { EVENTS_QUEUE_URL: queue.queueUrl, CHECK_URL: `${apiUrl}${checkPath}` },
      timeout: Duration.seconds(30),
      logRetention: environment.logRetentionDays,
      network: schema.database.network && webhooks.egress,
    });
    this.handler.allow(['sqs:SendMessage'], queue.queueArn);
    new Rule(this, 'Schedule', {
      description: 'Every five minutes: a webhook to the environment itself',
      schedule: Schedule.rate(probeInterval),
      // The next one is due soon.
      targets: [new LambdaFunction(this.handler, { retryAttempts: 0, maxEventAge: probeInterval })],
    });
  }
}

const probeInterval = Duration.minutes(probeMinutes);
