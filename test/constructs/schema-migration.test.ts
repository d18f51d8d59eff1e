import { databaseRoles } from '../../lambda/database/environment';
import { environments } from '../../lib/environments';
import { type StackTemplate, stackOf, stackWithAccess, synthesizeStacks } from '../support/stacks';

const stacks = synthesizeStacks();
const hashOf = (stack: StackTemplate | undefined) =>
  stack?.only('Custom::SchemaMigration').Properties.ContentHash;

describe.each(Object.entries(stacks))('the schema migration of %s', (_, stack) => {
  const migration = stack.only('Custom::SchemaMigration');
  const lambda = stack.named('AWS::Lambda::Function', 'SchemaMigrationMigrateSchema');

  it('runs when the database can carry out statements', () => {
    for (const { logicalId } of stack.all('AWS::RDS::DBInstance'))
      expect(migration.DependsOn).toContain(logicalId);
    for (const type of ['AWS::EC2::VPCEndpoint', 'AWS::EC2::SecurityGroupIngress'])
      for (const { logicalId } of stack.all(type)) expect(migration.DependsOn).toContain(logicalId);
  });

  it('comes before every other function that uses the database', () => {
    const users = stack
      .all('AWS::Lambda::Function')
      .filter(({ Properties }) => Properties.Environment?.Variables?.DATABASE_ACCESS)
      .filter(({ logicalId }) => logicalId !== lambda.logicalId);
    expect(users).toHaveLength(databaseRoles.length);
    for (const { DependsOn } of users) expect(DependsOn).toContain(migration.logicalId);
  });

  it('cannot hang a deployment: the function ends first, then the framework, and CloudFormation waits no longer', () => {
    const framework = stack.named('AWS::Lambda::Function', 'SchemaMigrationProvider');
    expect(lambda.Properties.Timeout).toBeLessThan(framework.Properties.Timeout);
    expect(framework.Properties.Timeout).toBeLessThanOrEqual(Number(migration.Properties.ServiceTimeout));
    expect(Number(migration.Properties.ServiceTimeout)).toBeLessThan(3600);
  });

  it('gets the variables that its function reads', () => {
    const { Variables } = lambda.Properties.Environment;
    expect(Variables).toMatchObject({
      DATABASE_NAME: 'wallet',
      DATABASE_MASTER_SECRET_ARN: { Ref: 'DatabaseMasterSecret' },
    });
    expect(Variables.DATABASE_ROLE_SECRETS).toBeDefined();
  });

  it('runs again only for a change of what it does', () => {
    expect(hashOf(stack)).toMatch(/^[0-9a-f]{64}$/);
    expect(migration.Properties).toEqual({
      ServiceToken: expect.anything(),
      ServiceTimeout: expect.anything(),
      ContentHash: hashOf(stack),
    });
  });
});

const direct = stackWithAccess('direct');
const overDataApi = stackWithAccess('data-api');

describe('the content hash', () => {
  it.each(environments)('is that of any environment whose roles sign in alike, in $name', (row) => {
    const hashWith = (databaseAccess: 'data-api' | 'direct') => hashOf(stackOf({ ...row, databaseAccess }));
    expect([hashWith('data-api'), hashWith('direct')]).toEqual([hashOf(overDataApi), hashOf(direct)]);
  });

  it('changes when roles begin to sign in otherwise', () => {
    expect(hashOf(direct)).not.toBe(hashOf(overDataApi));
  });
});

describe('with direct access', () => {
  const stack = direct;
  const lambda = stack.named('AWS::Lambda::Function', 'SchemaMigrationMigrateSchema');

  it('runs in the isolated subnets', () => {
    for (const { Ref } of lambda.Properties.VpcConfig.SubnetIds)
      expect(Ref).toMatch(/^NetworkVpcIsolatedSubnet/);
  });

  it('reads the password through an endpoint in one subnet that admits it alone', () => {
    const endpoint = stack.only('AWS::EC2::VPCEndpoint').Properties;
    expect(endpoint).toMatchObject({
      ServiceName: `com.amazonaws.${stack.environment.region}.secretsmanager`,
      VpcEndpointType: 'Interface',
      PrivateDnsEnabled: true,
      SubnetIds: [{ Ref: expect.stringMatching(/^NetworkVpcIsolatedSubnet1Subnet/) }],
    });
    const group = endpoint.SecurityGroupIds[0]['Fn::GetAtt'][0];
    const admitted = stack
      .all('AWS::EC2::SecurityGroupIngress')
      .filter(({ Properties }) => Properties.GroupId['Fn::GetAtt'][0] === group)
      .map(({ Properties }) => Properties.SourceSecurityGroupId['Fn::GetAtt'][0]);
    expect(admitted).toEqual([
      stack.named('AWS::EC2::SecurityGroup', 'SchemaMigrationSecurityGroup').logicalId,
    ]);
    expect(lambda.Properties.VpcConfig.SecurityGroupIds).toContainEqual({
      'Fn::GetAtt': [admitted[0], 'GroupId'],
    });
  });
});

it('reaches that one secret through the endpoint, and no other', () => {
  const { PolicyDocument } = direct.only('AWS::EC2::VPCEndpoint').Properties;
  expect(PolicyDocument.Statement).toEqual([
    {
      Effect: 'Allow',
      Principal: { AWS: '*' },
      Action: 'secretsmanager:GetSecretValue',
      Resource: { Ref: 'DatabaseMasterSecret' },
    },
  ]);
});

describe('over the Data API', () => {
  const stack = overDataApi;

  it('needs no endpoint and no VPC', () => {
    expect(stack.all('AWS::EC2::VPCEndpoint')).toEqual([]);
    expect(
      stack.named('AWS::Lambda::Function', 'SchemaMigrationMigrateSchema').Properties.VpcConfig,
    ).toBeUndefined();
  });

  it('may read every role’s password, to set it', () => {
    const lambda = stack.named('AWS::Lambda::Function', 'SchemaMigrationMigrateSchema');
    const read = stack
      .statementsOf(lambda)
      .filter(({ Action }) => [Action].flat().includes('secretsmanager:GetSecretValue'))
      .flatMap(({ Resource }) => Resource)
      .map(({ Ref }) => Ref);
    const secrets = stack.all('AWS::SecretsManager::Secret').map(({ logicalId }) => logicalId);
    expect(read.sort()).toEqual(secrets.sort());
  });
});
