import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CfnResource, CustomResource, Duration } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct, type IConstruct } from 'constructs';
import { databaseRoles } from '../../lambda/database/environment';
import { cannotBeTakenBack } from '../checks/migrations';
import { type Environment, restoreSuffix } from '../environment';
import { DeploymentProvider } from '../functions/deployment-provider';
import { type FunctionNetwork, HandlerFunction } from '../functions/handler-function';
import { ClosedSecurityGroup } from '../network/closed-security-group';
import type { RegionDatabase } from './region-database';

const projectRoot = resolve(__dirname, '../..');
const migrationsFolder = join(projectRoot, 'lambda/database/migrations');

export interface SchemaMigrationProps {
  readonly environment: Environment;
  readonly database: RegionDatabase;
}

/**
 * Brings the database's schema and roles up to date during the deployment, and again only when what it would do has
 * changed: the SQL, the roles, how they sign in, or the data by a restore. A failing migration fails the deployment with its reason.
 */
export class SchemaMigration extends Construct {
  readonly database: RegionDatabase;
  /** What comes after it finds the schema. */
  readonly resource: CfnResource;

  constructor(scope: Construct, id: string, { environment, database }: SchemaMigrationProps) {
    super(scope, id);
    this.database = database;
    const handler = new HandlerFunction(this, 'MigrateSchema', {
      useCase: 'migrate-schema',
      description: 'Applies the migrations that the database does not have yet',
      invokedBy: 'deployment',
      // Filled by `grantOwnership`, as they depend on how the database is reached.
      variables: [],
      environment: {},
      timeout: Duration.minutes(14),
      logRetention: environment.logRetentionDays,
      ...database.bundle,
      network: database.network && this.reachSecret(database.masterSecret, database.network),
    });
    database.grantOwnership(handler);
    const provider = new DeploymentProvider(this, 'Provider', {
      handler,
      logRetention: environment.logRetentionDays,
    });
    const migration = new CustomResource(this, 'Resource', {
      resourceType: 'Custom::SchemaMigration',
      serviceToken: provider.serviceToken,
      serviceTimeout: Duration.minutes(15),
      properties: { ContentHash: contentHash(environment) },
    });
    this.resource = migration.node.defaultChild as CfnResource;
    // Whoever compares two assemblies reads it: .ci/obstacles.ts.
    this.resource.addMetadata('CannotBeTakenBack', cannotBeTakenBack(projectRoot));
    migration.node.addDependency(...database.readiness, ...this.node.findAll().filter(isNetworkPart));
  }

  /**
   * In the isolated subnets nothing answers but the VPC. The owner's password is in Secrets Manager, so the migration
   * gets an endpoint for that secret, in one zone: a deployment can wait for a zone, and the API does not use it.
   */
  private reachSecret({ secretArn }: ISecret, network: FunctionNetwork): FunctionNetwork {
    const { vpc } = network;
    const securityGroup = new ClosedSecurityGroup(this, 'SecurityGroup', {
      vpc,
      description: 'Schema migration: reaches Secrets Manager',
    });
    const endpoint = new ec2.InterfaceVpcEndpoint(this, 'SecretsManager', {
      vpc,
      service: ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
      subnets: { subnets: vpc.selectSubnets(network.subnets).subnets.slice(0, 1) },
      securityGroups: [
        new ClosedSecurityGroup(this, 'SecretsManagerSecurityGroup', {
          vpc,
          description: 'Secrets Manager endpoint: admits the schema migration',
        }),
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

function isNetworkPart(construct: IConstruct): boolean {
  return construct instanceof ec2.CfnVPCEndpoint || construct instanceof ec2.CfnSecurityGroupIngress;
}

/** SHA-256 of everything that decides what the migration does. */
function contentHash({ databaseAccess, database }: Environment): string {
  const hash = createHash('sha256').update(JSON.stringify([databaseAccess, databaseRoles]));
  // Restored data has the roles' former passwords, and perhaps a former schema.
  hash.update(restoreSuffix(database));
  // The code decides how roles are made.
  hash.update(readFileSync(resolve(__dirname, '../../lambda/migrate-schema/migrate-schema.ts')));
  for (const file of readdirSync(migrationsFolder)
    .filter((name) => name.endsWith('.sql'))
    .sort()) {
    hash.update(JSON.stringify([file, readFileSync(join(migrationsFolder, file), 'utf8')]));
  }
  return hash.digest('hex');
}
