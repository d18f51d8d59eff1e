import { readVariables } from '../shared/environment';
import { loadDataApi, loadDirect, loadSigner } from './adapters';
import { readCertificateAuthorities } from './certificate-authorities';
import type { Database } from './database';
import { databaseVariables } from './environment';

/**
 * The region's database, by the access that the function's variables name. With direct access the function signs in
 * with an IAM token, which is made from its credentials without a call to AWS.
 *
 * @throws Error when a variable is missing or the access is unknown.
 */
export function connectDatabase(source: Readonly<Record<string, string | undefined>>): Database {
  if (source.DATABASE_ACCESS === 'data-api') {
    const variables = readVariables(databaseVariables['data-api'], source);
    return loadDataApi().createDataApiDatabase({
      clusterArn: variables.DATABASE_CLUSTER_ARN,
      secretArn: variables.DATABASE_SECRET_ARN,
      database: variables.DATABASE_NAME,
    });
  }
  if (source.DATABASE_ACCESS === 'direct') {
    const variables = readVariables(databaseVariables.direct, source);
    const address = { host: variables.DATABASE_HOST, port: Number(variables.DATABASE_PORT) };
    const { Signer } = loadSigner();
    const signer = new Signer({
      hostname: address.host,
      port: address.port,
      username: variables.DATABASE_USER,
    });
    return loadDirect().createDirectDatabase({
      ...address,
      database: variables.DATABASE_NAME,
      user: variables.DATABASE_USER,
      certificateAuthorities: readCertificateAuthorities(variables.DATABASE_CERTIFICATE_AUTHORITIES),
      password: () => signer.getAuthToken(),
    });
  }
  throw new Error(`DATABASE_ACCESS is '${source.DATABASE_ACCESS}': it must be 'data-api' or 'direct'.`);
}
