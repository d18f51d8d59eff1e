import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import { CfnDBInstance } from 'aws-cdk-lib/aws-rds';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct, type IConstruct, type IDependable } from 'constructs';
import { certificateAuthoritiesFile, type DatabaseRole } from '../../lambda/database/environment';
import type { Environment } from '../environment';
import type { BundleOptions } from '../functions/bundles';
import type { FunctionNetwork, HandlerFunction } from '../functions/handler-function';
import { databaseCertificateAuthorities } from './certificate-authorities';
import { DatabaseCluster, databaseName } from './cluster';
import { databaseSubnets } from './foundation';
import { type RoleSecrets, roleSecrets } from './secrets';

export interface RegionDatabaseProps {
  readonly environment: Environment;
  readonly vpc: ec2.IVpc;
}

/** The region's database and its ways in: over the RDS Data API, or directly by PostgreSQL's protocol. */
export class RegionDatabase extends Construct {
  readonly clusterArn: string;
  readonly clusterIdentifier: string;
  /**
   * Where functions that use the database have to run: next to it when they connect directly, and nowhere in
   * particular (`undefined`) when they use the Data API.
   */
  readonly network: FunctionNetwork | undefined;
  /** What functions that use the database have in their bundle, and beside it. */
  readonly bundle: BundleOptions;
  /** The cluster owner's secret. Only the migration may read it. */
  readonly masterSecret: ISecret;
  /** Each role's password, where roles sign in with one; empty where they sign in with IAM tokens. */
  readonly roleSecrets: RoleSecrets;
  /** What has to exist before a statement can be carried out. */
  readonly readiness: readonly IDependable[];
  /** Variables that name the database, without those of a role. */
  readonly location: DatabaseLocation;
  private readonly cluster: DatabaseCluster;

  constructor(scope: Construct, id: string, { environment, vpc }: RegionDatabaseProps) {
    super(scope, id);
    this.cluster = new DatabaseCluster(this, 'Cluster', { environment, vpc });
    this.clusterArn = this.cluster.arn;
    this.clusterIdentifier = this.cluster.identifier;
    this.masterSecret = this.cluster.masterSecret as ISecret;
    if (environment.databaseAccess === 'data-api') {
      this.roleSecrets = roleSecrets(this, this.cluster.keyOfSecrets);
      this.bundle = { databaseAccess: 'data-api' };
      this.location = {
        DATABASE_ACCESS: 'data-api',
        DATABASE_NAME: databaseName,
        DATABASE_CLUSTER_ARN: this.clusterArn,
      };
    } else {
      this.roleSecrets = {};
      this.bundle = {
        databaseAccess: 'direct',
        files: { [certificateAuthoritiesFile]: databaseCertificateAuthorities(environment) },
      };
      this.network = {
        vpc,
        subnets: databaseSubnets,
        securityGroups: [this.cluster.admitClients()],
      };
      this.location = {
        DATABASE_ACCESS: 'direct',
        DATABASE_NAME: databaseName,
        DATABASE_HOST: this.cluster.host,
        DATABASE_PORT: this.cluster.port,
        DATABASE_CERTIFICATE_AUTHORITIES: certificateAuthoritiesFile,
      };
    }
    this.readiness = this.cluster.node.findAll().filter(isNeededByStatements);
  }

  /**
   * Lets a function sign in as a database role: gives it the permission and the variables
   * (`databaseVariables` in `lambda/database/environment.ts`) together.
   */
  grantAccess(handler: HandlerFunction, role: DatabaseRole): void {
    this.setConnectionVariables(handler);
    const secret = this.roleSecrets[role];
    if (secret === undefined) {
      this.cluster.grantConnect(handler, role);
      handler.addEnvironment('DATABASE_USER', role);
    } else {
      handler.addToRolePolicy(
        new iam.PolicyStatement({ actions: ['rds-data:ExecuteStatement'], resources: [this.clusterArn] }),
      );
      this.grantSecret(handler, secret);
      handler.addEnvironment('DATABASE_SECRET_ARN', secret.secretArn);
    }
  }

  /** Lets the migration act as the cluster's owner and set the roles' passwords. */
  grantOwnership(handler: HandlerFunction): void {
    this.setConnectionVariables(handler);
    if (this.location.DATABASE_ACCESS === 'data-api') {
      handler.addToRolePolicy(
        new iam.PolicyStatement({
          actions: [
            'rds-data:BeginTransaction',
            'rds-data:CommitTransaction',
            'rds-data:ExecuteStatement',
            'rds-data:RollbackTransaction',
          ],
          resources: [this.clusterArn],
        }),
      );
    }
    const secrets = Object.entries(this.roleSecrets);
    for (const secret of [this.masterSecret, ...secrets.map(([, secret]) => secret)]) {
      this.grantSecret(handler, secret);
    }
    handler.addEnvironment('DATABASE_MASTER_SECRET_ARN', this.masterSecret.secretArn);
    handler.addEnvironment(
      'DATABASE_ROLE_SECRETS',
      JSON.stringify(Object.fromEntries(secrets.map(([role, secret]) => [role, secret.secretArn]))),
    );
  }

  /**
   * The CDK's own grant would let the function use the key for every secret. Secrets Manager passes the secret's
   * ARN as encryption context.
   * https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
   */
  private grantSecret(handler: HandlerFunction, { secretArn }: ISecret): void {
    handler.addToRolePolicy(
      new iam.PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] }),
    );
    handler.addToRolePolicy(
      new iam.PolicyStatement({
        actions: ['kms:Decrypt'],
        resources: [this.cluster.key.keyArn],
        conditions: {
          StringEquals: {
            'kms:EncryptionContext:SecretARN': secretArn,
            'kms:ViaService': `secretsmanager.${Stack.of(this).region}.amazonaws.com`,
          },
        },
      }),
    );
  }

  private setConnectionVariables(handler: HandlerFunction): void {
    for (const [name, value] of Object.entries(this.location)) {
      handler.addEnvironment(name, value);
    }
  }
}

type DatabaseLocation =
  | {
      readonly DATABASE_ACCESS: 'data-api';
      readonly DATABASE_NAME: string;
      readonly DATABASE_CLUSTER_ARN: string;
    }
  | {
      readonly DATABASE_ACCESS: 'direct';
      readonly DATABASE_NAME: string;
      readonly DATABASE_HOST: string;
      readonly DATABASE_PORT: string;
      readonly DATABASE_CERTIFICATE_AUTHORITIES: string;
    };

function isNeededByStatements(construct: IConstruct): boolean {
  return construct instanceof CfnDBInstance || construct instanceof ec2.CfnSecurityGroupIngress;
}
