import { databaseName, databaseOwner } from '../../database/names';
import type { Cleanup } from '../cleanup';
import type { DatabaseTarget } from '../data-api';
import { startDatabaseEndpoint } from '../database-endpoint/server';
import type { AccessKey } from '../database-endpoint/token';
import type { LocalCertificate } from '../network/certificates';
import type { Postgres } from '../postgres/postgres';
import type { Provision } from '../template/stack-deployment';
import { ensureDatabase } from './database';
import { arn, type StackIdentity } from './names';
import type { Secrets } from './secrets';

/** A cluster as the Data API knows it. */
export interface DataApiCluster {
  readonly arn: string;
  /** Undefined when there is no such secret. */
  target(secretArn: string, database: string | undefined): DatabaseTarget | undefined;
}

export interface DatabaseClusterSetting {
  readonly identity: StackIdentity;
  readonly secrets: Secrets;
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  /** Whose sign-in tokens the cluster accepts. */
  readonly credentials: FunctionCredentials;
  /** Gets why somebody was not let in. */
  readonly onRefusal: (reason: string) => void;
  /** Makes a cluster known to the Data API. */
  readonly register: (cluster: DataApiCluster) => void;
  /** Told when the database is new, so that whatever is remembered of an earlier one is wrong. */
  readonly onCreated: () => void;
  readonly cleanup: Cleanup;
}

/** As Lambda gives them to a function. */
export interface FunctionCredentials {
  readonly AWS_ACCESS_KEY_ID: string;
  readonly AWS_SECRET_ACCESS_KEY: string;
  readonly AWS_SESSION_TOKEN: string;
}

interface ClusterProperties {
  readonly DBClusterIdentifier?: string;
  readonly DatabaseName: string;
  readonly MasterUsername: string;
  readonly MasterUserPassword: string;
  readonly EnableHttpEndpoint?: boolean;
  readonly EnableIAMDatabaseAuthentication?: boolean;
}

const propertyNames = [
  'DBClusterIdentifier',
  'DatabaseName',
  'MasterUsername',
  'MasterUserPassword',
  'EnableHttpEndpoint',
  'EnableIAMDatabaseAuthentication',
] as const satisfies (keyof ClusterProperties)[];

/** What a cluster that began as a replica has from its primary: on this machine it begins empty, like any other. */
const fromPrimary = { DatabaseName: databaseName, MasterUsername: databaseOwner };

/** `AWS::RDS::DBCluster`: a PostgreSQL of its own, reached in the ways that the template allows and no other. */
export function provisionDatabaseCluster(setting: DatabaseClusterSetting): Provision {
  return async ({ logicalId, properties }) => {
    const cluster = { ...fromPrimary, ...properties(propertyNames) } as unknown as ClusterProperties;
    const postgres = await setting.postgres;
    const owner = { username: cluster.MasterUsername, password: cluster.MasterUserPassword };
    if (await ensureDatabase(postgres, { name: cluster.DatabaseName, owner })) setting.onCreated();

    const identifier = (
      cluster.DBClusterIdentifier ?? `${setting.identity.stackName}-${logicalId}`
    ).toLowerCase();
    const clusterArn = arn(setting.identity, 'rds', `cluster:${identifier}`);
    if (cluster.EnableHttpEndpoint) registerForDataApi(clusterArn, cluster, postgres, setting);
    const endpoint = cluster.EnableIAMDatabaseAuthentication
      ? await startEndpoint(postgres, setting)
      : postgres;
    return {
      ref: identifier,
      attributes: {
        DBClusterArn: clusterArn,
        'Endpoint.Address': endpoint.host,
        'Endpoint.Port': String(endpoint.port),
      },
    };
  };
}

function registerForDataApi(
  clusterArn: string,
  { DatabaseName }: ClusterProperties,
  { host, port }: Postgres,
  { secrets, register }: DatabaseClusterSetting,
): void {
  register({
    arn: clusterArn,
    target(secretArn, database = DatabaseName) {
      const secret = secrets.value(secretArn);
      if (secret === undefined) return undefined;
      const { username, password } = JSON.parse(secret) as { username: string; password: string };
      return { host, port, user: username, password, database };
    },
  });
}

async function startEndpoint(postgres: Postgres, setting: DatabaseClusterSetting) {
  const { credentials } = setting;
  const accessKey: AccessKey = {
    accessKeyId: credentials.AWS_ACCESS_KEY_ID,
    secretAccessKey: credentials.AWS_SECRET_ACCESS_KEY,
    sessionToken: credentials.AWS_SESSION_TOKEN,
  };
  const endpoint = await startDatabaseEndpoint({
    postgres,
    certificate: setting.certificate,
    region: setting.identity.region,
    credentials: accessKey,
    onRefusal: setting.onRefusal,
  });
  setting.cleanup.add(() => endpoint.close());
  return endpoint;
}
