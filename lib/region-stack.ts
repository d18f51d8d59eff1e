import { CfnOutput, Fn, Stack, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { RegionApi } from './api';
import { RegionDatabase } from './database';
import type { Environment } from './environment';
import { AuthorizeRequest, DeleteUserGroup, RunOperation } from './functions';
import { Network } from './network';
import { OperationsKey } from './operations-key';
import { SchemaMigration } from './schema-migration';
import { SigningKeys } from './signing-keys';
import { Webhooks } from './webhooks';

export interface RegionStackProps {
  readonly environment: Environment;
  /** The AWS account to deploy to. @default - decided by the deployer's credentials */
  readonly account?: string | undefined;
}

/** One environment of the service in one region. Shares nothing with any other stack. */
export class RegionStack extends Stack {
  private readonly zones: number;

  constructor(scope: Construct, { environment, account }: RegionStackProps) {
    super(scope, environment.stackId, {
      env: { region: environment.region, ...(account && { account }) },
      description: describe(environment),
      tags: tags(environment),
      terminationProtection: environment.serviceLevelAgreement,
    });
    this.zones = environment.zones;
    for (const [name, value] of Object.entries(tags(environment))) {
      Tags.of(this).add(name, value);
    }

    new OperationsKey(this, 'OperationsKey', { environment });
    const { vpc, webhookOrigin } = new Network(this, 'Network', { environment });
    const database = new RegionDatabase(this, 'Database', { environment, vpc });
    const migration = new SchemaMigration(this, 'SchemaMigration', { environment, database });
    const keys = new SigningKeys(this, 'SigningKeys', { environment });
    const authorizeRequest = new AuthorizeRequest(this, 'AuthorizeRequest', {
      environment,
      keys: keys.accessToken,
    });
    const deleteUserGroup = new DeleteUserGroup(this, 'DeleteUserGroup', {
      environment,
      database,
      migration,
      keys: keys.userAction,
    });
    const api = new RegionApi(this, 'Api', {
      environment,
      authorizeRequest,
      deleteUserGroup,
      webhookOriginAddress: webhookOrigin.address,
    });
    const { events, deliveries, secretsKey } = new Webhooks(this, 'Webhooks', {
      environment,
      vpc,
      webhookOrigin,
      database,
      migration,
    });
    const operations = new RunOperation(this, 'RunOperation', { environment, database, migration });

    this.output('ApiBaseUrl', 'Base address of the API; every path is appended to it', api.url);
    this.output(
      'DashboardUrl',
      'Address of the dashboard. Nothing is served there yet',
      environment.domainNames ? `https://${environment.domainNames.dashboard}` : api.url,
    );
    this.output(
      'WebhookOriginAddress',
      'The one IPv4 address from which webhooks come',
      webhookOrigin.address,
    );
    this.output('WebhookEventsQueueUrl', 'Events put here become webhooks', events.queue.queueUrl);
    this.output('WebhookEventsDeadLetterQueueUrl', 'Events set aside', events.deadLetters.queueUrl);
    this.output('WebhookDeliveryQueueUrl', 'Deliveries on their way', deliveries.queue.queueUrl);
    this.output('WebhookDeliveryDeadLetterQueueUrl', 'Deliveries given up', deliveries.deadLetters.queueUrl);
    this.output('WebhookSecretsKeyArn', "KMS key that webhooks' secrets derive from", secretsKey.keyArn);
    this.output('TokenSigningKeyArn', 'KMS key that signs access tokens', keys.accessToken.signingKeyArn);
    this.output('UserActionSigningKeyArn', 'KMS key that signs user actions', keys.userAction.signingKeyArn);
    this.output('DatabaseClusterArn', 'The Aurora cluster', database.clusterArn);
    this.output(
      'OperationsFunctionName',
      "The function behind the operator's command line",
      operations.functionName,
    );
    this.output('ServiceLevelAgreement', 'yes or no', environment.serviceLevelAgreement ? 'yes' : 'no');
    this.output('Deprecated', 'true or false', String(environment.deprecation !== undefined));
  }

  /** Zones by number, so that synthesis needs to ask no account for their names. */
  override get availabilityZones(): string[] {
    return Array.from({ length: this.zones }, (_, index) => Fn.select(index, Fn.getAzs()));
  }

  private output(name: string, description: string, value: string): void {
    new CfnOutput(this, name, { description, value });
  }
}

function describe(environment: Environment): string {
  const terms = environment.serviceLevelAgreement ? 'with' : 'without';
  const deprecated = environment.deprecation ? ' Deprecated.' : '';
  return `Wallet infrastructure: ${environment.purpose}, ${terms} a service level agreement.${deprecated}`;
}

function tags({ name, serviceLevelAgreement, deprecation }: Environment): Record<string, string> {
  return {
    service: 'wallet-infrastructure',
    environment: name,
    'service-level-agreement': serviceLevelAgreement ? 'yes' : 'no',
    deprecated: String(deprecation !== undefined),
  };
}
