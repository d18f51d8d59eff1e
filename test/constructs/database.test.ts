import { X509Certificate } from 'node:crypto';
import { type DatabaseRole, databaseRoles, databaseVariables } from '../../lambda/database/environment';
import { certificateAuthorities } from '../../lib/database/database';
import { restoreSuffix } from '../../lib/environment';
import { environments } from '../../lib/environments';
import { withDataApi, withDirectAccess } from '../support/rows';
import { type Resource, type StackTemplate, stackOf, synthesizeStacks } from '../support/stacks';

const stacks = synthesizeStacks();
const [overDataApi, direct] = [withDataApi, withDirectAccess].map(stackOf) as [StackTemplate, StackTemplate];

describe.each(Object.entries(stacks))('the database of %s', (_, stack) => {
  const { environment } = stack;
  const isDirect = environment.databaseAccess === 'direct';
  const cluster = stack.only('AWS::RDS::DBCluster');

  it('is encrypted with its own key, in the isolated subnets, and refuses connections without TLS', () => {
    expect(cluster.Properties).toMatchObject({
      KmsKeyId: { 'Fn::GetAtt': ['DatabaseKey', 'Arn'] },
      StorageEncrypted: true,
    });
    expect(stack.get('DatabaseKey').Properties.EnableKeyRotation).toBe(true);
    const { DBSubnetGroupName, DBClusterParameterGroupName } = cluster.Properties;
    for (const { Ref } of stack.get(DBSubnetGroupName.Ref).Properties.SubnetIds)
      expect(Ref).toMatch(/^NetworkVpcIsolatedSubnet\dSubnet/);
    const { Parameters } = stack.get(DBClusterParameterGroupName.Ref).Properties;
    expect(Parameters['rds.force_ssl']).toBe('1');
  });

  it('has instances in different zones, of the version in the template', () => {
    expect(stack.all('AWS::RDS::DBInstance').map(({ Properties }) => Properties)).toMatchObject(
      Array.from({ length: 1 + environment.database.readers }, (_, index) => ({
        AvailabilityZone: environment.zones[index],
        AutoMinorVersionUpgrade: false,
      })),
    );
  });

  it('writes its logs into groups that exist before it', () => {
    const identifier = JSON.stringify(cluster.Properties.DBClusterIdentifier['Fn::Join'][1]).slice(2, -1);
    for (const name of cluster.Properties.EnableCloudwatchLogsExports) {
      const { logicalId, Properties } = stack.get(`DatabaseLog${name.replaceAll('-', '')}`);
      expect(cluster.DependsOn).toContain(logicalId);
      expect(JSON.stringify(Properties.LogGroupName)).toContain(`"/aws/rds/cluster/${identifier},"/${name}"`);
    }
  });

  it('is protected and retained according to the row, with all that it uses', () => {
    const { deletionProtection, backupRetentionDays } = environment.database;
    const policy = deletionProtection ? 'Retain' : 'Snapshot';
    expect(cluster).toMatchObject({
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
      Properties: { DeletionProtection: deletionProtection, BackupRetentionPeriod: backupRetentionDays },
    });
    const used = stack.resources.filter(({ logicalId }) =>
      /^Database(Parameters|Subnets|Key|Log|Writer|Reader)/.test(logicalId),
    );
    for (const { DeletionPolicy } of used.filter(() => deletionProtection))
      expect(DeletionPolicy).toBe('Retain');
  });

  it("lets only the migration read the owner's password", () => {
    const readers = stack
      .all('AWS::Lambda::Function')
      .filter((lambda) => JSON.stringify(stack.statementsOf(lambda)).includes('DatabaseMasterSecret'));
    expect(readers.map(({ logicalId }) => logicalId)).toEqual([
      expect.stringMatching(/^SchemaMigrationMigrateSchema/),
    ]);
  });

  it("allows only the row's database access", () => {
    expect(cluster.Properties).toMatchObject({
      EnableHttpEndpoint: !isDirect,
      EnableIAMDatabaseAuthentication: isDirect,
    });
    const admitted = stack
      .all('AWS::EC2::SecurityGroupIngress')
      .filter(({ logicalId }) => logicalId.startsWith('DatabaseCluster'));
    expect(admitted).toHaveLength(isDirect ? 1 : 0);
    const secrets = stack.all('AWS::SecretsManager::Secret').map(({ logicalId }) => logicalId);
    expect(secrets).toHaveLength(isDirect ? 1 : 1 + databaseRoles.length);
    for (const lambda of stack.all('AWS::Lambda::Function')) {
      const { DATABASE_ACCESS, ...variables } = lambda.Properties.Environment?.Variables ?? {};
      if (!DATABASE_ACCESS) continue;
      expect(DATABASE_ACCESS).toBe(environment.databaseAccess);
      // Lambda's image lacks the root certificates of RDS.
      expect('DATABASE_CERTIFICATE_AUTHORITIES' in variables).toBe(isDirect);
      expect(variables.NODE_EXTRA_CA_CERTS).toBeUndefined();
    }
  });

  it('has ARNs of at most 100 characters for the Data API', () => {
    // As CloudFormation and Secrets Manager generate them: DatabaseSecret3B817195-R7aao5xJupze-Lkf02d.
    const { region, name } = environment;
    const secrets = stack.all('AWS::SecretsManager::Secret').map(({ logicalId, Properties }) => {
      expect(Properties.Name).toBeUndefined();
      return `arn:aws:secretsmanager:${region}:123456789012:secret:${logicalId}-R7aao5xJupze-Lkf02d`;
    });
    const cluster = `arn:aws:rds:${region}:123456789012:cluster:wallet-${name}-01234567`;
    for (const arn of [...secrets, cluster]) expect(arn.length).toBeLessThanOrEqual(100);
  });
});

/** The function that signs in as a role, and its statements about the database. */
function accessOf(stack: StackTemplate, role: DatabaseRole) {
  const lambda = stack
    .all('AWS::Lambda::Function')
    .find(({ Properties }) =>
      Properties.Role['Fn::GetAtt'][0].toLowerCase().includes(role.replaceAll('_', '')),
    ) as Resource;
  const statements = stack
    .statementsOf(lambda)
    .filter(({ Action }) => /rds|secretsmanager|kms:Decrypt/.test(JSON.stringify(Action)));
  return { variables: Object.keys(lambda.Properties.Environment.Variables), statements };
}

describe.each(databaseRoles)('the function of the role %s', (role) => {
  it('may only execute single statements over the Data API with the secret of its role', () => {
    const Ref = `Secret${role.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
    const { variables, statements } = accessOf(overDataApi, role);
    expect(variables).toEqual(expect.arrayContaining([...databaseVariables['data-api']]));
    expect(statements).toMatchObject([
      { Action: 'rds-data:ExecuteStatement' },
      { Action: 'secretsmanager:GetSecretValue', Resource: { Ref } },
      {
        Action: 'kms:Decrypt',
        Resource: { 'Fn::GetAtt': ['DatabaseKey', 'Arn'] },
        Condition: {
          StringEquals: {
            'kms:EncryptionContext:SecretARN': { Ref },
            'kms:ViaService': `secretsmanager.${overDataApi.environment.region}.amazonaws.com`,
          },
        },
      },
    ]);
    expect(JSON.stringify(statements[0].Resource)).toContain(':cluster:",{"Ref":"DatabaseCluster"}');
  });

  it('may only sign in directly as its role', () => {
    const { variables, statements } = accessOf(direct, role);
    expect(variables).toEqual(expect.arrayContaining([...databaseVariables.direct]));
    const access = statements.filter(({ Action }) => Action !== 'kms:Decrypt');
    expect(access).toMatchObject([{ Action: 'rds-db:connect' }]);
    expect(JSON.stringify(access[0].Resource)).toContain(`"DBClusterResourceId"]},"/${role}"`);
  });
});

describe('the migration', () => {
  const migrate = (stack: StackTemplate) =>
    stack.named('AWS::Lambda::Function', 'SchemaMigrationMigrateSchema');

  it('runs again only when the database access or the restore source of a row changes', () => {
    const hashes = Object.values(stacks).map((stack) => {
      const { databaseAccess, database } = stack.environment;
      const { ContentHash, ...others } = stack.only('Custom::SchemaMigration').Properties;
      expect(Object.keys(others).sort()).toEqual(['ServiceTimeout', 'ServiceToken']);
      return [`${databaseAccess}${restoreSuffix(database)}`, ContentHash] as const;
    });
    // One hash for each group, and none for two.
    const count = (found: readonly string[]) => new Set(found).size;
    expect(count(hashes.map(String))).toBe(count(hashes.map(([group]) => group)));
    expect(count(hashes.map(String))).toBe(count(hashes.map(([, hash]) => hash)));
  });

  it("reaches only the owner's secret through its endpoint, with direct access", () => {
    const { PolicyDocument, SubnetIds } = direct.only('AWS::EC2::VPCEndpoint').Properties;
    expect(SubnetIds).toHaveLength(1);
    expect(PolicyDocument.Statement).toMatchObject([
      { Action: 'secretsmanager:GetSecretValue', Resource: { Ref: 'DatabaseMasterSecret' } },
    ]);
    for (const { Ref } of migrate(direct).Properties.VpcConfig.SubnetIds)
      expect(Ref).toMatch(/^NetworkVpcIsolatedSubnet/);
  });

  it('may read every password with the Data API, outside the VPC', () => {
    expect(overDataApi.all('AWS::EC2::VPCEndpoint')).toEqual([]);
    expect(migrate(overDataApi).Properties.VpcConfig).toBeUndefined();
    const read = overDataApi
      .statementsOf(migrate(overDataApi))
      .filter(({ Action }) => Action === 'secretsmanager:GetSecretValue')
      .flatMap(({ Resource }) => Resource)
      .map(({ Ref }) => Ref);
    const secrets = overDataApi.all('AWS::SecretsManager::Secret').map(({ logicalId }) => logicalId);
    expect(read.sort()).toEqual(secrets.sort());
  });
});

it("bundles the region's own three root certificates, valid for decades", () => {
  for (const { region } of environments) {
    const roots = certificateAuthorities({ name: 'any', region })
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .map((pem) => new X509Certificate(pem));
    expect(roots.map(({ subject }) => /CN=(.*)/.exec(subject)?.[1])).toEqual(
      ['RSA2048', 'RSA4096', 'ECC384'].map((kind) => `Amazon RDS ${region} Root CA ${kind} G1`),
    );
    for (const root of roots) {
      expect(root.ca && root.verify(root.publicKey)).toBe(true);
      expect(new Date(root.validTo).getUTCFullYear()).toBeGreaterThan(2060);
    }
  }
  expect(() => certificateAuthorities({ name: 'any', region: 'xx-nowhere-1' })).toThrow(
    /^any\.region is "xx-nowhere-1"\. .*no "Amazon RDS xx-nowhere-1 Root CA RSA2048 G1".*Update the package/,
  );
});
