import { CfnOutput, Duration, Fn, Stack, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import * as authorizeRequest from '../lambda/authorize-request/environment';
import * as deleteUserGroup from '../lambda/delete-user-group/environment';
import * as runOperation from '../lambda/run-operation/environment';
import { RegionApi } from './api';
import { RegionDatabase } from './database';
import type { Environment } from './environment';
import { HandlerFunction } from './handler-function';
import { Network } from './network';
import { SchemaMigration } from './schema-migration';
import { type SigningKeySet, SigningKeys } from './signing-keys';
import { Webhooks } from './webhooks';

export interface RegionStackProps {
  readonly environment: Environment;
  /** The AWS account to deploy to. @default - decided by the deployer's credentials */
  readonly account?: string | undefined;
}

/** One environment of the service in one region. Shares nothing with any other stack. */
export class RegionStack extends Stack {
  private readonly environmentOfTable: Environment;
  private readonly migration: SchemaMigration;
  private readonly database: RegionDatabase;

  constructor(scope: Construct, { environment, account }: RegionStackProps) {
    super(scope, environment.stackId, {
      env: { region: environment.region, ...(account && { account }) },
      description: describe(environment),
      tags: tags(environment),
      terminationProtection: environment.serviceLevelAgreement,
    });
    this.environmentOfTable = environment;
    for (const [name, value] of Object.entries(tags(environment))) {
      Tags.of(this).add(name, value);
    }

    const { vpc, webhookOrigin } = new Network(this, 'Network', { environment });
    this.database = new RegionDatabase(this, 'Database', { environment, vpc });
    this.migration = new SchemaMigration(this, 'SchemaMigration', { environment, database: this.database });
    const keys = new SigningKeys(this, 'SigningKeys', { environment });
    const api = new RegionApi(this, 'Api', {
      environment,
      authorizeRequest: this.authorizeRequest(keys.accessToken),
      deleteUserGroup: this.deleteUserGroup(keys.userAction),
      webhookOriginAddress: webhookOrigin.address,
    });
    const webhooks = new Webhooks(this, 'Webhooks');
    const operations = this.runOperation();

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
    this.output('WebhookEventsQueueUrl', 'Events put here become webhooks', webhooks.eventsQueue.queueUrl);
    this.output('TokenSigningKeyArn', 'KMS key that signs access tokens', keys.accessToken.signingKeyArn);
    this.output('UserActionSigningKeyArn', 'KMS key that signs user actions', keys.userAction.signingKeyArn);
    this.output('DatabaseClusterArn', 'The Aurora cluster', this.database.clusterArn);
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
    const zones = this.environmentOfTable.zones;
    return Array.from({ length: zones }, (_, index) => Fn.select(index, Fn.getAzs()));
  }

  private authorizeRequest(keys: SigningKeySet): HandlerFunction {
    return new HandlerFunction(this, 'AuthorizeRequest', {
      useCase: 'authorize-request',
      description: 'Verifies access tokens',
      variables: authorizeRequest.variables,
      environment: { TOKEN_ISSUER: this.environmentOfTable.tokenIssuer, TOKEN_KEYS: keys.jwks },
      timeout: Duration.seconds(5),
      logRetention: this.environmentOfTable.logRetentionDays,
    });
  }

  private deleteUserGroup(keys: SigningKeySet): HandlerFunction {
    const handler = new HandlerFunction(this, 'DeleteUserGroup', {
      useCase: 'delete-user-group',
      description: 'Deletes a user group',
      variables: deleteUserGroup.variables,
      environment: { TOKEN_ISSUER: this.environmentOfTable.tokenIssuer, USER_ACTION_KEYS: keys.jwks },
      // The gateway gives up after 29 s; by then the function has answered.
      timeout: Duration.seconds(28),
      memorySize: 1024,
      logRetention: this.environmentOfTable.logRetentionDays,
      network: this.database.network,
    });
    this.database.grantAccess(handler, 'delete_user_group');
    this.migration.precede(handler);
    return handler;
  }

  private runOperation(): HandlerFunction {
    const handler = new HandlerFunction(this, 'RunOperation', {
      useCase: 'run-operation',
      description: "Carries out the writes of the operator's command line",
      variables: runOperation.variables,
      environment: { ENVIRONMENT: this.environmentOfTable.name },
      timeout: Duration.seconds(30),
      logRetention: this.environmentOfTable.logRetentionDays,
      network: this.database.network,
    });
    this.database.grantAccess(handler, 'run_operation');
    this.migration.precede(handler);
    return handler;
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
