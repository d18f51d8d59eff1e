import { X509Certificate } from 'node:crypto';
import { databaseRoles } from '../../lambda/database/variables';
import { certificateAuthorities } from '../../lib/database/database';
import { stackOf } from '../support/stacks';
import { environments } from '../support/table';

const stacks = environments.map(stackOf);

describe.each(stacks)('the database of $environment.name', (stack) => {
  const { environment } = stack;
  const isDirect = environment.databaseAccess === 'direct';
  const secrets = stack.all('AWS::SecretsManager::Secret');

  it('has instances in different zones', () => {
    const zones = stack.all('AWS::RDS::DBInstance').map(({ Properties }) => Properties.AvailabilityZone);
    expect(zones).toEqual(environment.zones.slice(0, 1 + environment.database.readers));
  });

  it("allows only the row's database access", () => {
    const admitted = stack
      .all('AWS::EC2::SecurityGroupIngress')
      .filter(({ logicalId }) => logicalId.startsWith('DatabaseCluster'));
    expect(admitted).toHaveLength(isDirect ? 1 : 0);
    expect(secrets).toHaveLength(isDirect ? 1 : 1 + databaseRoles.length);
  });

  it('has ARNs of at most 100 characters for the Data API', () => {
    // As CloudFormation and Secrets Manager generate them.
    const prefix = `arn:aws:secretsmanager:${environment.region}:123456789012:secret:`;
    for (const { logicalId } of secrets)
      expect(`${prefix}${logicalId}-R7aao5xJupze-Lkf02d`.slice(100)).toBe('');
  });
});

it("bundles the region's own three root certificates, valid for decades", () => {
  for (const { region } of environments) {
    const roots = certificateAuthorities({ name: 'any', region })
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .map((pem) => new X509Certificate(pem));
    expect(roots).toHaveLength(3);
    for (const root of roots) {
      expect(root.subject).toContain(`Amazon RDS ${region} Root CA`);
      expect(root.ca && root.verify(root.publicKey)).toBe(true);
      expect(new Date(root.validTo).getUTCFullYear()).toBeGreaterThan(2060);
    }
  }
});
