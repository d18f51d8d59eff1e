import { Construct } from 'constructs';
import type { RegionApi } from '../api/region-api';
import type { RegionDashboard } from '../dashboard/region-dashboard';
import type { RegionDatabase } from '../database/region-database';
import type { Environment } from '../environment';
import type { WebhookOrigin } from '../network/webhook-origin';
import type { Webhooks } from '../webhooks/webhooks';
import { AlarmTopic } from './alarm-topic';
import { Alarms } from './alarms';
import { watchApi, watchDashboard } from './api-alarms';
import {
  apiRow,
  databaseRow,
  deletionsRow,
  functionsRow,
  originRow,
  queuesRow,
  webhooksRow,
} from './dashboard-rows';
import { type WatchedReplica, watchDatabase, watchReplica } from './database-alarms';
import { watchEgress } from './egress-alarms';
import { type WatchedFunction, type WatchedFunctions, watchFunctions } from './function-alarms';
import { LogMetrics } from './log-metrics';
import { MonitoringDashboard } from './monitoring-dashboard';
import type { OperationsKey } from './operations-key';
import { watchWebhooks } from './webhook-alarms';

export interface MonitoringProps {
  readonly environment: Environment;
  /** Encrypts the topic. */
  readonly key: OperationsKey;
  readonly api: RegionApi;
  readonly dashboard: RegionDashboard;
  readonly functions: WatchedFunctions & Record<'authorize-request' | 'delete-user-group', WatchedFunction>;
  readonly database: RegionDatabase;
  readonly webhooks: Webhooks;
  readonly webhookOrigin: WebhookOrigin;
}

/** The alarms of a region that serves with a service level agreement, each with its heading in the runbook, and their dashboard. */
export class Monitoring extends Construct {
  /** Every alarm is published here when it begins and when it ends. */
  readonly topicArn: string;
  /** Where the dashboard is. */
  readonly dashboardUrl: string;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { environment, key, api, dashboard, functions, database, webhooks, webhookOrigin } = props;
    const topic = new AlarmTopic(this, 'Topic', { environment, key });
    const alarms = new Alarms(this, 'Alarms', { topic });
    watchApi(alarms, api);
    watchDashboard(alarms, dashboard);
    watchFunctions(alarms, functions);
    watchDatabase(alarms, database.clusterIdentifier, environment);
    watchWebhooks(alarms, webhooks);
    watchEgress(alarms, { environment, origin: webhookOrigin, deliveries: webhooks.deliveries.queue });
    const logMetrics = new LogMetrics(this, 'LogMetrics', {
      accessLog: api.accessLog,
      authorizerLog: functions['authorize-request'].lambda.logGroup,
      deletionLog: functions['delete-user-group'].lambda.logGroup,
    });
    const { url } = new MonitoringDashboard(this, 'Dashboard', {
      alarms,
      rows: [
        apiRow(api),
        deletionsRow(logMetrics),
        webhooksRow(),
        queuesRow(webhooks),
        originRow(webhookOrigin),
        functionsRow(Object.keys(functions)),
        databaseRow(environment),
      ],
    });
    this.topicArn = topic.topicArn;
    this.dashboardUrl = url;
  }
}

export interface StandbyMonitoringProps {
  readonly environment: Environment;
  /** Encrypts the topic. */
  readonly key: OperationsKey;
  readonly replica: WatchedReplica;
}

/** The one alarm of a region that only follows another. */
export class StandbyMonitoring extends Construct {
  /** The alarm is published here when it begins and when it ends. */
  readonly topicArn: string;

  constructor(scope: Construct, id: string, { environment, key, replica }: StandbyMonitoringProps) {
    super(scope, id);
    const topic = new AlarmTopic(this, 'Topic', { environment, key });
    watchReplica(new Alarms(this, 'Alarms', { topic }), replica);
    this.topicArn = topic.topicArn;
  }
}
