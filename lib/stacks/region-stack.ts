import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { variables as authorizeRequestVariables } from '../../lambda/authorize-request/variables';
import { variables as runOperationVariables } from '../../lambda/run-operation/variables';
import { Api } from '../api/api';
import { CustomDomainNames } from '../api/custom-domain-names';
import { createRouteFunctions } from '../api/routes';
import { SigningKeys } from '../api/signing-keys';
import { Dashboard } from '../dashboard/dashboard';
import { AirGappedBackups } from '../database/air-gapped-backups';
import { Database } from '../database/database';
import { DatabaseFunction } from '../database/database-function';
import { SchemaMigration } from '../database/schema-migration';
import { accessTokenLifetime, airGappedRetentionDays, type Environment } from '../environment/schema';
import { HandlerFunction } from '../functions/handler-function';
import { Monitoring, type MonitoringProps } from '../monitoring/monitoring';
import { OperationsKey } from '../monitoring/operations-key';
import { Network } from '../network/network';
import { WebhookOrigin } from '../network/webhook-origin';
import { Probe } from '../webhooks/probe';
import { Webhooks } from '../webhooks/webhooks';
import { EnvironmentStack, type EnvironmentStackProps } from './environment-stack';

/** What the outputs and the promises of a service level agreement are about. */
interface Parts extends Omit<MonitoringProps, 'environment' | 'clusterIdentifier' | 'backups' | 'probe'> {
  readonly environment: Environment;
  readonly vpc: IVpc;
  readonly database: Database;
  readonly schema: SchemaMigration;
  readonly keys: SigningKeys;
}

/** One environment of the service in one region. Shares nothing with any other stack. */
export class RegionStack extends EnvironmentStack {
  /** Receives every alarm's changes. Without a service level agreement there is none. */
  readonly alarmTopic: Topic | undefined;

  constructor(scope: Construct, { environment, account }: EnvironmentStackProps) {
    super(scope, environment.title, { environment, account });

    const key = new OperationsKey(this, 'OperationsKey', { environment });
    const { vpc } = new Network(this, 'Network', { environment });
    const webhookOrigin = new WebhookOrigin(this, 'WebhookOrigin', { environment, vpc });
    const database = new Database(this, 'Database', { environment, vpc });
    const schema = new SchemaMigration(this, 'SchemaMigration', { environment, database });
    const keys = new SigningKeys(this, 'SigningKeys', { environment });
    const logRetention = environment.logRetentionDays;
    const authorizeRequest = new HandlerFunction(this, 'AuthorizeRequest', {
      handlerName: 'authorize-request',
      description: 'Verifies access tokens',
      variables: authorizeRequestVariables,
      environment: {
        TOKEN_ISSUER: environment.tokenIssuer,
        TOKEN_KEYS: keys.accessToken.jwks,
        TOKEN_LIFETIME: String(accessTokenLifetime(environment)),
      },
      timeout: Duration.seconds(5),
      logRetention,
    });
    const webhooks = new Webhooks(this, 'Webhooks', { environment, vpc, webhookOrigin, schema });
    const { secretsKeyArn } = webhooks;
    const routeParts = { stack: this, environment, schema, keys, webhookOrigin, secretsKeyArn };
    const routeFunctions = createRouteFunctions(routeParts);
    const api = new Api(this, 'Api', { environment, authorizeRequest, routeFunctions, webhookOrigin });
    const dashboard = new Dashboard(this, 'Dashboard', { environment, api, webhookOrigin });
    this.addDomainNames(environment, { api: api.restApi, dashboard: dashboard.restApi });
    const runOperation = new DatabaseFunction(this, 'RunOperation', {
      handlerName: 'run-operation',
      description: 'Runs the operations of the wallet command line',
      variables: runOperationVariables,
      environment: { ENVIRONMENT: environment.name, API_BASE_URL: api.url, DASHBOARD_URL: dashboard.url },
      timeout: Duration.seconds(30),
      logRetention,
      schema,
      role: 'run_operation',
    });
    const parts = {
      environment,
      key,
      vpc,
      webhookOrigin,
      database,
      schema,
      keys,
      webhooks,
      authorizeRequest,
      routeFunctions,
      api,
      dashboard,
      runOperation,
    };
    this.alarmTopic = this.addPromises(parts);
    this.addServingOutputs(parts);
  }

  /** What a service level agreement brings: backups that nobody can delete, the probe, alarms. @returns the alarms' topic */
  private addPromises(parts: Parts): Topic | undefined {
    const { environment, vpc, database, schema, webhooks, api } = parts;
    const { objective } = environment;
    const retentionDays = airGappedRetentionDays(environment);
    if (!objective || retentionDays === undefined) return undefined;
    const { cluster } = database;
    const backed = { environment, vpc, cluster, retentionDays };
    const backups = new AirGappedBackups(this, 'AirGappedBackups', backed);
    const { handler: probe } = new Probe(this, 'Probe', { environment, schema, webhooks, apiUrl: api.url });
    const { topic, cloudWatchDashboardUrl } = new Monitoring(this, 'Monitoring', {
      ...parts,
      environment: { ...environment, objective },
      clusterIdentifier: cluster.identifier,
      backups,
      probe,
    });
    this.addOutputs({
      AlarmTopicArn: ['SNS topic to which alarms are published', topic.topicArn],
      AirGappedVaultName: ['Vault of the backups that nobody can delete', backups.vaultName],
      MonitoringDashboardUrl: ['Alarms and metrics, in CloudWatch', cloudWatchDashboardUrl],
      ProbeFunctionName: ['Function that sends webhooks to the environment itself', probe.functionName],
    });
    return topic;
  }

  private addServingOutputs(parts: Parts): void {
    const { environment, webhookOrigin, database, keys, webhooks, api, dashboard, runOperation } = parts;
    const { events, deliveries, retries, secretsKeyArn } = webhooks;
    this.addOutputs({
      ApiBaseUrl: ['Base address of the API', api.url],
      DashboardUrl: ['Address of the dashboard', dashboard.url],
      WebhookOriginAddress: ['The source IPv4 address of all webhooks', webhookOrigin.address],
      ...(webhookOrigin.reserve && {
        WebhookOriginReserveAddress: [
          'The source IPv4 address of webhooks in an announced emergency',
          webhookOrigin.reserve.address,
        ],
      }),
      ...(webhookOrigin.standbyAddress && {
        WebhookOriginStandbyAddress: [
          'The source IPv4 address of webhooks in the other region, in an announced emergency',
          webhookOrigin.standbyAddress,
        ],
      }),
      WebhookEventsQueueUrl: ['Queue of events to deliver as webhooks', events.queue.queueUrl],
      WebhookEventsDeadLetterQueueUrl: ['Events that could not be processed', events.deadLetters.queueUrl],
      WebhookDeliveryQueueUrl: ['Queue of deliveries', deliveries.queue.queueUrl],
      WebhookDeliveryDeadLetterQueueUrl: [
        'Deliveries that could not be processed',
        deliveries.deadLetters.queueUrl,
      ],
      WebhookRetryQueueUrl: ['Queue of retries', retries.queue.queueUrl],
      WebhookSecretsKeyArn: ['KMS key from which webhook secrets are derived', secretsKeyArn],
      TokenSigningKeyArn: ['KMS key that signs access tokens', keys.accessToken.signingKeyArn],
      UserActionSigningKeyArn: ['KMS key that signs user actions', keys.userAction.signingKeyArn],
      DatabaseClusterArn: ['The Aurora cluster', database.cluster.arn],
      OperationsFunctionName: [
        'Function that runs the operations of the wallet command line',
        runOperation.functionName,
      ],
      ServiceLevelAgreement: ['yes or no', environment.serviceLevelAgreement ? 'yes' : 'no'],
      Deprecated: ['true or false', String(environment.deprecation !== undefined)],
    });
  }

  private addDomainNames({ domainNames }: Environment, apis: Record<'api' | 'dashboard', RestApi>): void {
    if (domainNames === undefined) return;
    const { targets } = new CustomDomainNames(this, 'DomainNames', { domainNames, apis });
    this.addOutputs({
      ApiDomainTarget: [`CNAME target for ${domainNames.api}`, targets.api],
      DashboardDomainTarget: [`CNAME target for ${domainNames.dashboard}`, targets.dashboard],
    });
  }
}
