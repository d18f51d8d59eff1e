import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from 'aws-cdk-lib';
import { longestWait } from '../../lambda/migrate-schema/environment';
import { environments } from '../../lib/environments';
import { copyAssembly } from '../support/prepared-state';
import { newcomer, withStandby } from '../support/rows';
import { type Resource, synthesizeEveryStack, temporaryFiles, withApp } from '../support/stacks';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const every = synthesizeEveryStack();
const serving = Object.values(every).filter(({ environment, manifest }) =>
  manifest.properties.templateFile.startsWith(`${environment.stackId}.`),
);
const idsOf = (resources: readonly Resource[]) => resources.map(({ logicalId }) => logicalId);

/** Types without tags, or with too new ones: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/ */
const untaggable = new RegExp(
  `^(Custom::.*|AWS::(${[
    'ApiGateway::(Account|Authorizer|Deployment|GatewayResponse|Method|Resource)',
    'CloudWatch::Dashboard',
    'EC2::(Route|SecurityGroup(Egress|Ingress)|SubnetRouteTableAssociation|VPCGatewayAttachment)',
    'IAM::Policy',
    'Lambda::Permission',
    'Logs::MetricFilter',
    'SecretsManager::SecretTargetAttachment',
    'SNS::(Subscription|TopicPolicy)',
    'SQS::QueuePolicy',
    'WAFv2::(LoggingConfiguration|WebACLAssociation)',
  ].join('|')}))$`,
);

describe.each(Object.entries(every))('%s', (name, stack) => {
  const { environment, json, manifest } = stack;

  it('states deprecation in its description and in every output', () => {
    const outputs = Object.values<{ Description: string }>(json.Outputs);
    for (const text of [json.Description, ...outputs.map(({ Description }) => Description)]) {
      expect(/\bDeprecated since \d{4}-\d\d-\d\d\./.test(text)).toBe(environment.deprecation !== undefined);
      expect(text.includes('Test funds only.')).toBe(environment.testFundsOnly);
      expect(text).toMatch(/\w\.$/);
    }
    expect(json.Description).toContain(environment.purpose);
    expect(manifest.properties.terminationProtection ?? false).toBe(environment.serviceLevelAgreement);
  });

  it('is tagged, and so are its resources', () => {
    const tags = {
      service: 'wallet-infrastructure',
      environment: environment.name,
      deprecated: String(environment.deprecation !== undefined),
      'test-funds-only': String(environment.testFundsOnly),
    };
    expect(manifest.properties.tags).toMatchObject(tags);
    for (const { logicalId, Type, Properties } of stack.resources) {
      if (untaggable.test(Type)) continue;
      const own = (Properties.Tags ?? []).map(({ Key, Value }: Record<string, string>) => [Key, Value]);
      expect({ logicalId, tags: Object.fromEntries(own) }).toMatchObject({ logicalId, tags });
    }
  });

  it('names no other stack or region', () => {
    for (const other of Object.keys(every).filter((each) => each !== name))
      expect(stack.text).not.toMatch(new RegExp(`\\b${other}\\b`));
    for (const { region } of environments.filter((row) => !environment.residencyRegions.includes(row.region)))
      expect(stack.text).not.toContain(region);
  });

  it('retains addresses, keys and queues, except when their creation fails', () => {
    const retained = stack.resources.filter(({ Type }) => /::(EIP|Key|Queue)$/.test(Type));
    expect(retained).not.toEqual([]);
    const isServed = serving.includes(stack) && environment.database.deletionProtection;
    for (const resource of retained) {
      // A retained cluster cannot be read without its key.
      const DeletionPolicy =
        isServed && resource.logicalId === 'DatabaseKey' ? 'Retain' : 'RetainExceptOnCreate';
      expect(resource).toMatchObject({ DeletionPolicy, UpdateReplacePolicy: 'Retain' });
    }
  });

  it('has encrypted queues that require TLS and keep messages for 14 days', () => {
    for (const { logicalId, Properties } of stack.all('AWS::SQS::Queue')) {
      expect(Properties).toMatchObject({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 });
      const policies = stack
        .all('AWS::SQS::QueuePolicy')
        .filter((each) => JSON.stringify(each.Properties.Queues).includes(`"${logicalId}"`));
      expect(policies[0]?.Properties.PolicyDocument.Statement).toContainEqual(
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      );
    }
  });

  it('has its subnets in the zones of the row, by name and in order', () => {
    const subnets = stack.all('AWS::EC2::Subnet');
    const { zones } = environment.standby?.stackId === name ? environment.standby : environment;
    expect(subnets).toHaveLength(zones.length * (serving.includes(stack) ? 3 : 1));
    expect(subnets.map(({ Properties }) => Properties.AvailabilityZone)).toEqual(
      subnets.map((_, index) => zones[index % zones.length]),
    );
    expect(stack.text).not.toContain('Fn::GetAZs');
  });

  it('has closed security groups, except for webhook delivery', () => {
    for (const { logicalId, Properties } of stack.all('AWS::EC2::SecurityGroup')) {
      if (logicalId.startsWith('WebhooksEgress')) continue;
      expect(Properties.SecurityGroupEgress).toHaveLength(1);
      const [{ CidrIp, DestinationSecurityGroupId }] = Properties.SecurityGroupEgress;
      expect(CidrIp ?? DestinationSecurityGroupId['Fn::GetAtt'][1]).toMatch(/^(127\.0\.0\.1\/32|GroupId)$/);
    }
    // With inline rules beside them these are reported as drift:
    // https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1198
    expect(stack.all('AWS::EC2::SecurityGroupEgress')).toEqual([]);
    expect(stack.all('Custom::VpcRestrictDefaultSG')).toHaveLength(1);
  });

  it('has flow logs of all traffic, with the retention of the row', () => {
    const { TrafficType, LogGroupName } = stack.only('AWS::EC2::FlowLog').Properties;
    expect(TrafficType).toBe('ALL');
    for (const group of [LogGroupName.Ref, ...idsOf(stack.all('AWS::Logs::LogGroup'))])
      expect(stack.get(group).Properties.RetentionInDays).toBe(environment.logRetentionDays);
  });

  it('gives each function its own log group and role', () => {
    const functions = stack.all('AWS::Lambda::Function');
    const logs = functions.map(({ Properties }) => Properties.LoggingConfig);
    expect(new Set(logs.map(({ LogFormat }) => LogFormat))).toEqual(new Set(['JSON']));
    expect(new Set(logs.map(({ LogGroup }) => stack.get(LogGroup.Ref).logicalId)).size).toBe(
      functions.length,
    );
    const roles = functions.map(({ Properties }) => Properties.Role['Fn::GetAtt'][0]);
    expect(new Set(roles).size).toBe(functions.length);
    for (const role of roles) expect(stack.get(role).Properties.ManagedPolicyArns).toBeUndefined();
  });

  it('allows functions "*" only for network interfaces, and denies those to their code', () => {
    for (const lambda of stack.all('AWS::Lambda::Function')) {
      const statements = stack.statementsOf(lambda);
      const wide = statements.filter(
        ({ Action, Resource }) => [Resource].flat().includes('*') || JSON.stringify(Action).includes('*'),
      );
      const [allowed, denied] = wide;
      expect(wide.map(({ Effect }) => Effect)).toEqual(lambda.Properties.VpcConfig ? ['Allow', 'Deny'] : []);
      expect(denied?.Action).toEqual(allowed?.Action);
      for (const action of allowed?.Action ?? [])
        expect(action).toMatch(/^ec2:\w+(NetworkInterfaces?|PrivateIpAddresses|Subnets)$/);
      expect(denied?.Condition.ArnLike['lambda:SourceFunctionArn']['Fn::Join'][1].slice(-3)).toEqual(
        denied && [':function:', { Ref: 'AWS::StackName' }, '-*'],
      );
      const logs = statements.filter(({ Action }) => JSON.stringify(Action).includes('logs:'));
      expect(logs).toMatchObject([{ Action: ['logs:CreateLogStream', 'logs:PutLogEvents'] }]);
      expect(JSON.stringify(logs)).toContain(`"${lambda.Properties.LoggingConfig.LogGroup.Ref}","Arn"`);
    }
    // Unused, but part of the CDK's grants.
    expect(stack.text).not.toContain('sqs:GetQueueUrl');
  });

  it('grants keys to AWS services only', () => {
    const policies = stack.all('AWS::KMS::Key').flatMap(({ Properties }) => Properties.KeyPolicy.Statement);
    const grants = policies.filter(({ Action }) => [Action].flat().includes('kms:CreateGrant'));
    for (const { Condition } of grants)
      expect(JSON.stringify(Condition)).toContain('kms:GrantIsForAWSResource');
  });

  it('leaves no log group behind when its creation fails, unless its cluster is retained', () => {
    const logs = stack.all('AWS::Logs::LogGroup').filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain');
    const isRetained = stack.only('AWS::RDS::DBCluster').DeletionPolicy === 'Retain';
    expect(idsOf(logs).filter((id) => !(isRetained && id.startsWith('Database')))).toEqual([]);
  });
});

describe.each(serving.map((stack) => [stack.environment.name, stack] as const))('%s', (_, stack) => {
  const { environment } = stack;

  it('has the outputs that others rely on', () => {
    expect(Object.keys(stack.json.Outputs)).toEqual(
      expect.arrayContaining([
        'ApiBaseUrl',
        'DashboardUrl',
        'WebhookOriginAddress',
        'WebhookEventsQueueUrl',
        'WebhookEventsDeadLetterQueueUrl',
        'WebhookDeliveryQueueUrl',
        'WebhookDeliveryDeadLetterQueueUrl',
        'WebhookSecretsKeyArn',
        'TokenSigningKeyArn',
        'UserActionSigningKeyArn',
        'DatabaseClusterArn',
        'OperationsFunctionName',
      ]),
    );
    expect(stack.json.Outputs).toMatchObject({
      ServiceLevelAgreement: { Value: environment.serviceLevelAgreement ? 'yes' : 'no' },
      Deprecated: { Value: String(environment.deprecation !== undefined) },
    });
  });

  it('connects only public subnets to the internet, and isolated ones to nothing', () => {
    const routes = stack.all('AWS::EC2::Route');
    const direct = routes.filter(({ Properties }) => Properties.GatewayId !== undefined);
    expect(direct).toHaveLength(environment.zones.length);
    for (const id of idsOf(direct)) expect(id).toMatch(/^NetworkVpcPublicSubnet\dDefaultRoute/);
    expect(idsOf(routes).filter((id) => id.includes('Isolated'))).toEqual([]);
  });

  it('sends each function in the VPC an event a day', () => {
    const targets = JSON.stringify(
      stack.all('AWS::Events::Rule').map(({ Properties }) => Properties.Targets),
    );
    const inVpc = stack.all('AWS::Lambda::Function').filter(({ Properties }) => Properties.VpcConfig);
    for (const id of idsOf(inVpc)) expect(targets).toContain(`"${id}"`);
  });

  it('creates gateway responses one after the other, as API Gateway requires', () => {
    const responses = stack.all('AWS::ApiGateway::GatewayResponse');
    const apis = new Set(responses.map(({ Properties }) => JSON.stringify(Properties.RestApiId)));
    const first = responses.filter(
      ({ DependsOn = [] }) => ![DependsOn].flat().some((id) => idsOf(responses).includes(id)),
    );
    expect(first).toHaveLength(apis.size);
  });

  it('has no empty list of overrides in its web ACL, which a deployment refuses', () => {
    expect(stack.text).not.toContain('"RuleActionOverrides": []');
  });

  it('migrates the schema once the database accepts statements, before any other function uses it', () => {
    const migration = stack.only('Custom::SchemaMigration');
    for (const type of ['AWS::RDS::DBInstance', 'AWS::EC2::VPCEndpoint', 'AWS::EC2::SecurityGroupIngress'])
      expect(migration.DependsOn).toEqual(expect.arrayContaining(idsOf(stack.all(type))));
    const users = stack
      .all('AWS::Lambda::Function')
      .filter(({ Properties }) => Properties.Environment?.Variables?.DATABASE_ACCESS)
      .filter(({ logicalId }) => !logicalId.startsWith('SchemaMigration'));
    expect(users).not.toEqual([]);
    for (const { DependsOn } of users) expect(DependsOn).toContain(migration.logicalId);
  });

  it('lets the migration wait for a new database plus six minutes, within the timeout of the framework', () => {
    const migration = stack.named('AWS::Lambda::Function', 'SchemaMigrationMigrateSchema').Properties.Timeout;
    const framework = stack.named('AWS::Lambda::Function', 'SchemaMigrationProvider').Properties.Timeout;
    const service = Number(stack.only('Custom::SchemaMigration').Properties.ServiceTimeout);
    expect(migration).toBeGreaterThanOrEqual(longestWait / 1_000 + 360);
    expect(framework).toBeGreaterThan(migration);
    expect(service).toBeGreaterThanOrEqual(framework);
  });
});

describe('synthesis', () => {
  it('uses the accounts that the deployer sets', () => {
    const { name, region, standby } = withStandby;
    const options = {
      environments: [newcomer, withStandby],
      accounts: { [name]: '123456789012' },
      validateTemplates: false,
    };
    withApp(({ node }) => {
      expect(node.children.map((child) => (child as Stack).environment)).toEqual([
        `aws://unknown-account/${newcomer.region}`,
        `aws://123456789012/${region}`,
        `aws://123456789012/${standby.region}`,
      ]);
    }, options);
    expect(temporaryFiles(`wallet-bundle-${process.pid}-`)).toEqual([]);
  });

  it('is deterministic: the same templates without the other rows, in a process without account, credentials or network settings, from the listed sources', async () => {
    const outdir = join(folder(), 'cdk.out');
    await copyAssembly(outdir);
    // Bundles contain the paths of files.
    const withoutDigests = (template: string) => template.replaceAll(/\b[0-9a-f]{64}\b/g, 'digest');
    for (const [name, { text }] of Object.entries(every)) {
      const template = readFileSync(join(outdir, `${name}.template.json`), 'utf8');
      expect(withoutDigests(template)).toBe(withoutDigests(text));
    }
    const manifest = JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8'));
    expect(manifest.missing).toBeUndefined();
  }, 90_000);

  it('warns only about deprecated environments', () => {
    withApp(({ node }) => {
      const warned = node.children.flatMap((stack) =>
        stack.node.metadata
          .filter(({ type }) => type === 'aws:cdk:warning')
          .map(({ data }) => [stack.node.id, String(data)]),
      );
      expect(warned).toEqual(
        environments.flatMap(({ stackId, name, deprecation }) =>
          deprecation
            ? [[stackId, expect.stringContaining(`${name} is deprecated: for existing users only.`)]]
            : [],
        ),
      );
    }, {});
  });
});
