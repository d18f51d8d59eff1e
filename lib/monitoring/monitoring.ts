import { Construct } from 'constructs';
import type { Api } from '../api/api';
import type { RegionDashboard } from '../dashboard/region-dashboard';
import type { Environment } from '../environment';
import type { WebhookOrigin } from '../network/webhook-origin';
import type { Webhooks } from '../webhooks/webhooks';
import { Alarms, AlarmTopic } from './alarms';
import { LogMetrics } from './log-metrics';
import { alarmsOf, MonitoringDashboard } from './monitoring-dashboard';
import type { OperationsKey } from './operations-key';
import {
  apiRow,
  databaseRow,
  deletionsRow,
  functionsRow,
  standbyBehind,
  type WatchedFunction,
  type WatchedFunctions,
} from './service-rows';
import { deliveriesRow, originRow, queuesRow } from './webhook-rows';

export interface MonitoringProps {
  readonly environment: Environment;
  /** Encrypts the topic. */
  readonly key: OperationsKey;
  readonly api: Api;
  readonly dashboard: RegionDashboard;
  readonly functions: WatchedFunctions & Record<'authorize-request' | 'delete-user-group', WatchedFunction>;
  /** Of the database. */
  readonly clusterIdentifier: string;
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
    const { environment, key, api, dashboard, functions, webhooks, webhookOrigin } = props;
    const topic = new AlarmTopic(this, 'Topic', { environment, key });
    const logMetrics = new LogMetrics(this, 'LogMetrics', {
      accessLog: api.accessLog,
      authorizerLog: functions['authorize-request'].lambda.logGroup,
      deletionLog: functions['delete-user-group'].lambda.logGroup,
    });
    const rows = [
      apiRow(api, logMetrics),
      deletionsRow(logMetrics),
      deliveriesRow(),
      queuesRow(webhooks),
      originRow(environment, webhookOrigin, webhooks),
      functionsRow(functions, dashboard),
      databaseRow(environment, props.clusterIdentifier),
    ];
    new Alarms(this, 'Alarms', { topic, alarms: rows.flatMap(alarmsOf) });
    this.topicArn = topic.topicArn;
    this.dashboardUrl = new MonitoringDashboard(this, 'Dashboard', rows).url;
  }
}

export interface StandbyMonitoringProps {
  readonly environment: Environment;
  /** Encrypts the topic. */
  readonly key: OperationsKey;
  /** Of the replica. */
  readonly clusterIdentifier: string;
  /** Where the primary is. */
  readonly sourceRegion: string;
}

/** The one alarm of a region that only follows another. */
export class StandbyMonitoring extends Construct {
  /** The alarm is published here when it begins and when it ends. */
  readonly topicArn: string;

  constructor(scope: Construct, id: string, props: StandbyMonitoringProps) {
    super(scope, id);
    const { environment, key, clusterIdentifier, sourceRegion } = props;
    const topic = new AlarmTopic(this, 'Topic', { environment, key });
    new Alarms(this, 'Alarms', { topic, alarms: [standbyBehind(clusterIdentifier, sourceRegion)] });
    this.topicArn = topic.topicArn;
  }
}
