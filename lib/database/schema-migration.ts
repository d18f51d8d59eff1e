import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CfnResource, CustomResource, Duration } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { databaseRoles } from '../../lambda/database/variables';
import { readMigrations } from '../checks/migrations';
import { type Environment, restoreSuffix } from '../environment/schema';
import { DeploymentProvider } from '../functions/deployment-provider';
import { type FunctionNetwork, HandlerFunction } from '../functions/handler-function';
import { ClosedSecurityGroup } from '../network/closed-security-group';
import type { Database } from './database';

const projectRoot = resolve(__dirname, '../..');

export interface SchemaMigrationProps {
  readonly environment: Environment;
  readonly database: Database;
}

/**
 * Migrates schema and roles during a deployment, if the SQL, the roles, their authentication, or the restored data changed. A failed
 * migration fails the deployment with its reason.
 */
export class SchemaMigration extends Construct {
  readonly database: Database;
  /** Resources that need the schema depend on it. */
  readonly resource: CfnResource;

  constructor(scope: Construct, id: string, { environment, database }: SchemaMigrationProps) {
    super(scope, id);
    this.database = database;
    const handler = new HandlerFunction(this, 'MigrateSchema', {
      handlerName: 'migrate-schema',
      description: 'Applies pending migrations to the database',
      // `grantOwnership` sets them.
      variables: [],
      environment: {},
      timeout: Duration.minutes(14),
      logRetention: environment.logRetentionDays,
      ...database.bundle,
      network: database.network && this.reachSecret(database.masterSecret, database.network),
    });
    database.grantOwnership(handler);
    const { serviceToken } = new DeploymentProvider(this, 'Provider', handler);
    const migration = new CustomResource(this, 'Resource', {
      resourceType: 'Custom::SchemaMigration',
      serviceToken,
      serviceTimeout: Duration.minutes(15),
      properties: { ContentHash: contentHash(environment) },
    });
    this.resource = migration.node.defaultChild as CfnResource;
    // Read by cli/deployments/losses.ts, which compares two templates.
    this.resource.addMetadata('Migrations', [...readMigrations(projectRoot).keys()]);
    const network = this.node
      .findAll()
      .filter((each) => each instanceof ec2.CfnVPCEndpoint || each instanceof ec2.CfnSecurityGroupIngress);
    migration.node.addDependency(...database.dependencies, ...network);
  }

  /**
   * The isolated subnets have no route out of the VPC, so the migration needs an endpoint for the owner's secret. One zone is
   * enough: only this function may connect, and it runs only during deployments.
   */
  private reachSecret({ secretArn }: ISecret, network: FunctionNetwork): FunctionNetwork {
    const { vpc } = network;
    const groupOf = (id: string, description: string) =>
      new ClosedSecurityGroup(this, id, { vpc, description });
    const securityGroup = groupOf('SecurityGroup', 'Schema migration: reaches Secrets Manager');
    const endpoint = new ec2.InterfaceVpcEndpoint(this, 'SecretsManager', {
      vpc,
      service: ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
      subnets: { subnets: vpc.selectSubnets(network.vpcSubnets).subnets.slice(0, 1) },
      securityGroups: [
        groupOf('SecretsManagerSecurityGroup', 'Secrets Manager endpoint: admits the schema migration'),
      ],
      open: false,
    });
    endpoint.addToPolicy(
      new PolicyStatement({
        principals: [new AnyPrincipal()],
        actions: ['secretsmanager:GetSecretValue'],
        resources: [secretArn],
      }),
    );
    endpoint.connections.allowDefaultPortFrom(securityGroup, 'HTTPS');
    return { ...network, securityGroups: [...network.securityGroups, securityGroup] };
  }
}

/** SHA-256 of everything that determines the result of the migration. */
function contentHash({ databaseAccess, database }: Environment): string {
  const hash = createHash('sha256').update(JSON.stringify([databaseAccess, databaseRoles]));
  // Restored data has the roles' old passwords, and perhaps an old schema.
  hash.update(restoreSuffix(database));
  // The code creates the roles.
  hash.update(readFileSync(join(projectRoot, 'lambda/migrate-schema/migrate-schema.ts')));
  for (const [name, text] of readMigrations(projectRoot)) hash.update(JSON.stringify([`${name}.sql`, text]));
  return hash.digest('hex');
}
