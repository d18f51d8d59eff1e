import { databaseRoles, databaseVariables } from '../../lambda/database/environment';
import { environments } from '../../lib/environments';
import { stackWithAccess, synthesizeStacks } from '../support/stacks';

const stacks = synthesizeStacks();

describe.each(Object.entries(stacks))('the database of %s', (_, stack) => {
  const { environment } = stack;
  const cluster = stack.only('AWS::RDS::DBCluster');
  const instances = stack.all('AWS::RDS::DBInstance');

  it('is encrypted with its own key, which rotates', () => {
    expect(cluster.Properties).toMatchObject({
      StorageEncrypted: true,
      KmsKeyId: { 'Fn::GetAtt': ['DatabaseKey', 'Arn'] },
    });
    expect(stack.get('DatabaseKey').Properties.EnableKeyRotation).toBe(true);
  });

  it('lives in the isolated subnets', () => {
    const group = stack.get(cluster.Properties.DBSubnetGroupName.Ref);
    expect(group.Properties.SubnetIds).toHaveLength(3);
    for (const { Ref } of group.Properties.SubnetIds)
      expect(Ref).toMatch(/^NetworkVpcIsolatedSubnet\dSubnet/);
  });

  it('has its writer and its readers in different zones', () => {
    const zones = instances.map(({ Properties }) => Properties.AvailabilityZone);
    expect(zones).toEqual(environment.zones.slice(0, instances.length));
  });

  it('refuses connections without TLS', () => {
    const parameters = stack.get(cluster.Properties.DBClusterParameterGroupName.Ref).Properties.Parameters;
    expect(parameters['rds.force_ssl']).toBe('1');
  });

  it('reaches nothing itself', () => {
    const { Properties } = stack.get('DatabaseSecurityGroup');
    expect(Properties.SecurityGroupEgress).toMatchObject([{ CidrIp: '127.0.0.1/32' }]);
  });

  it('writes its logs into groups that exist before it, for a stated time', () => {
    for (const name of cluster.Properties.EnableCloudwatchLogsExports) {
      const group = stack.get(`DatabaseLog${name.replaceAll('-', '')}`);
      expect(cluster.DependsOn).toContain(group.logicalId);
      expect(group.Properties.RetentionInDays).toBe(environment.logRetentionDays);
      const [prefix, ...identifier] = [
        group.Properties.LogGroupName['Fn::Join'][1][0],
        ...cluster.Properties.DBClusterIdentifier['Fn::Join'][1],
      ];
      expect(prefix).toBe(`/aws/rds/cluster/${identifier[0]}`);
      expect(group.Properties.LogGroupName['Fn::Join'][1].slice(1)).toEqual([identifier[1], `/${name}`]);
    }
  });

  it('is protected and kept as the table says', () => {
    const kept = environment.database.deletionProtection ? 'Retain' : 'Snapshot';
    expect(cluster.Properties.DeletionProtection).toBe(environment.database.deletionProtection);
    expect(cluster.Properties.BackupRetentionPeriod).toBe(environment.database.backupRetentionDays);
    expect(cluster).toMatchObject({ DeletionPolicy: kept, UpdateReplacePolicy: kept });
  });

  it("keeps the owner's password from everybody but the migration", () => {
    const readers = stack
      .all('AWS::Lambda::Function')
      .filter((lambda) => JSON.stringify(stack.statementsOf(lambda)).includes('DatabaseMasterSecret'));
    expect(readers.map(({ logicalId }) => logicalId)).toEqual([
      expect.stringMatching(/^SchemaMigrationMigrateSchema/),
    ]);
  });
});

describe.each(['data-api', 'direct'] as const)('with access %s', (databaseAccess) => {
  const switched = synthesizeStacks(environments.map((environment) => ({ ...environment, databaseAccess })));

  it.each(Object.entries(switched))('%s offers that way in, and no other', (_, stack) => {
    expect(stack.only('AWS::RDS::DBCluster').Properties).toMatchObject({
      EnableHttpEndpoint: databaseAccess === 'data-api',
      EnableIAMDatabaseAuthentication: databaseAccess === 'direct',
    });
    const admitted = stack
      .all('AWS::EC2::SecurityGroupIngress')
      .filter(({ logicalId }) => logicalId.startsWith('DatabaseCluster'));
    expect(admitted).toHaveLength(databaseAccess === 'direct' ? 1 : 0);
  });

  it.each(Object.entries(switched))('the ARNs that the Data API gets in %s are short enough', (_, stack) => {
    // As CloudFormation and Secrets Manager make them: DatabaseSecret3B817195-R7aao5xJupze-Lkf02d.
    const { region, name } = stack.environment;
    const secrets = stack.all('AWS::SecretsManager::Secret').map(({ logicalId, Properties }) => {
      expect(Properties.Name).toBeUndefined();
      return `arn:aws:secretsmanager:${region}:123456789012:secret:${logicalId}-R7aao5xJupze-Lkf02d`;
    });
    expect(secrets.length).toBeGreaterThanOrEqual(databaseAccess === 'data-api' ? 6 : 1);
    for (const arn of [...secrets, `arn:aws:rds:${region}:123456789012:cluster:wallet-${name}-01234567`]) {
      expect(arn.length).toBeLessThanOrEqual(100);
    }
  });
});

describe('access over the Data API', () => {
  const stack = stackWithAccess('data-api');

  it('has a secret for each role, encrypted with the key of the database', () => {
    const secrets = stack
      .all('AWS::SecretsManager::Secret')
      .filter(({ logicalId }) => logicalId.startsWith('Secret'));
    const usernames = secrets.map(
      ({ Properties }) => JSON.parse(Properties.GenerateSecretString.SecretStringTemplate).username,
    );
    expect(usernames).toEqual([...databaseRoles]);
    for (const { Properties } of secrets) {
      expect(Properties.KmsKeyId).toEqual({ 'Fn::GetAtt': ['DatabaseKey', 'Arn'] });
      expect(Properties).not.toHaveProperty('ReplicaRegions');
    }
  });

  it("lets a function carry out single statements with its own role's secret, and nothing more", () => {
    const lambda = stack.named('AWS::Lambda::Function', 'DeleteUserGroup');
    const secret = { Ref: 'SecretDeleteUserGroup' };
    expect(stack.statementsOf(lambda).slice(1)).toEqual([
      {
        Effect: 'Allow',
        Action: 'rds-data:ExecuteStatement',
        Resource: clusterArn(stack.environment.region),
      },
      { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: secret },
      {
        Effect: 'Allow',
        Action: 'kms:Decrypt',
        Resource: { 'Fn::GetAtt': ['DatabaseKey', 'Arn'] },
        Condition: {
          StringEquals: {
            'kms:EncryptionContext:SecretARN': secret,
            'kms:ViaService': `secretsmanager.${stack.environment.region}.amazonaws.com`,
          },
        },
      },
    ]);
  });

  it('keeps functions outside of the VPC', () => {
    expect(stack.named('AWS::Lambda::Function', 'DeleteUserGroup').Properties.VpcConfig).toBeUndefined();
  });
});

describe('direct access', () => {
  const stack = stackWithAccess('direct');

  it('has no password but the owner’s', () => {
    expect(stack.only('AWS::SecretsManager::Secret').logicalId).toBe('DatabaseMasterSecret');
  });

  it('lets a function sign in as its own role, and nothing more', () => {
    const lambda = stack.named('AWS::Lambda::Function', 'DeleteUserGroup');
    const [, , , ...statements] = stack.statementsOf(lambda);
    expect(statements).toEqual([
      {
        Effect: 'Allow',
        Action: 'rds-db:connect',
        Resource: {
          'Fn::Join': [
            '',
            [
              `arn:aws:rds-db:${stack.environment.region}:`,
              { Ref: 'AWS::AccountId' },
              ':dbuser:',
              { 'Fn::GetAtt': ['DatabaseCluster', 'DBClusterResourceId'] },
              '/delete_user_group',
            ],
          ],
        },
      },
    ]);
  });

  it('puts functions next to the database, from where they reach it and nothing else', () => {
    const { VpcConfig } = stack.named('AWS::Lambda::Function', 'DeleteUserGroup').Properties;
    for (const { Ref } of VpcConfig.SubnetIds) expect(Ref).toMatch(/^NetworkVpcIsolatedSubnet/);
    expect(VpcConfig.SecurityGroupIds).toHaveLength(1);
    const [
      {
        'Fn::GetAtt': [clients],
      },
    ] = VpcConfig.SecurityGroupIds;
    expect(stack.get(clients).Properties.SecurityGroupEgress).toMatchObject([
      { DestinationSecurityGroupId: { 'Fn::GetAtt': ['DatabaseSecurityGroup', 'GroupId'] } },
    ]);
  });
});

describe('variables', () => {
  it.each(Object.entries(stacks))('in %s are those that the database adapter reads', (_, stack) => {
    const { Variables } = stack.named('AWS::Lambda::Function', 'DeleteUserGroup').Properties.Environment;
    const { databaseAccess } = stack.environment;
    expect(Object.keys(Variables)).toEqual(expect.arrayContaining([...databaseVariables[databaseAccess]]));
    expect(Variables.DATABASE_ACCESS).toBe(databaseAccess);
  });
});

function clusterArn(region: string) {
  return {
    'Fn::Join': [
      '',
      [`arn:aws:rds:${region}:`, { Ref: 'AWS::AccountId' }, ':cluster:', { Ref: 'DatabaseCluster' }],
    ],
  };
}
