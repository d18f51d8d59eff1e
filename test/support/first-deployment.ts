import { longestWait } from '../../lambda/migrate-schema/await-database';
import type { Resource, StackTemplate } from './stacks';

/** What a real account would refuse, roll back or surprise with, by the name of the rule that it breaks. */
export type Rule = (stack: StackTemplate) => readonly string[];

const ids = (resources: readonly Resource[]) => resources.map(({ logicalId }) => logicalId);
const isRetained = ({ DeletionPolicy }: Resource) => DeletionPolicy === 'Retain';
const functionsInVpc = (stack: StackTemplate) =>
  stack.all('AWS::Lambda::Function').filter(({ Properties }) => Properties.VpcConfig);

export const rules = {
  'the migration has time to wait for a new database, and six minutes then': (stack) =>
    stack.all('Custom::SchemaMigration').flatMap(({ logicalId, Properties }) => {
      const { Timeout } = stack.named('AWS::Lambda::Function', 'SchemaMigrationMigrateSchema').Properties;
      const enough = Timeout >= longestWait / 1_000 + 360 && Number(Properties.ServiceTimeout) > Timeout;
      return enough ? [] : [`${logicalId} has ${Timeout} s of ${Properties.ServiceTimeout} s`];
    }),

  'no function trusts what the image of the runtime has': (stack) =>
    ids(
      stack.all('AWS::Lambda::Function').filter(({ Properties }) => {
        const variables = Properties.Environment?.Variables ?? {};
        const isDirect = variables.DATABASE_ACCESS === 'direct';
        return variables.NODE_EXTRA_CA_CERTS || isDirect !== 'DATABASE_CERTIFICATE_AUTHORITIES' in variables;
      }),
    ),

  'zones are named, none by its place in a list': (stack) =>
    ids(
      stack.resources.filter(
        ({ Properties }) =>
          JSON.stringify(Properties ?? {}).includes('Fn::GetAZs') ||
          !/undefined|string/.test(typeof Properties?.AvailabilityZone),
      ),
    ),

  'each function in the VPC gets an event a day': (stack) => {
    const targets = JSON.stringify(
      stack.all('AWS::Events::Rule').map(({ Properties }) => Properties.Targets),
    );
    return ids(functionsInVpc(stack)).filter((id) => !targets.includes(`"${id}"`));
  },

  'a failed creation leaves no address, key, queue or log, but with a cluster that is kept': (stack) =>
    ids(
      stack.resources.filter(
        (resource) => /::(EIP|Key|Queue|LogGroup)$/.test(resource.Type) && isRetained(resource),
      ),
    ).filter((id) => !(id.startsWith('Database') && stack.all('AWS::RDS::DBCluster').every(isRetained))),

  'what a cluster uses is kept with it': (stack) =>
    stack.all('AWS::RDS::DBCluster').flatMap((cluster) => {
      const used = stack.resources.filter(
        ({ logicalId, Type }) =>
          /^Database(Parameters|Subnets|Key|Log)/.test(logicalId) && !Type.startsWith('AWS::EC2'),
      );
      return isRetained(cluster) ? ids(used.filter((resource) => !isRetained(resource))) : [];
    }),

  'the template says which version of PostgreSQL runs': (stack) =>
    ids(
      stack
        .all('AWS::RDS::DBInstance')
        .filter(({ Properties }) => Properties.AutoMinorVersionUpgrade !== false),
    ),

  'gateway responses are made one after the other': (stack) => {
    const responses = stack.all('AWS::ApiGateway::GatewayResponse');
    const apis = new Set(responses.map(({ Properties }) => JSON.stringify(Properties.RestApiId)));
    const waits = ({ DependsOn = [] }: Resource) =>
      [DependsOn].flat().some((id) => ids(responses).includes(id));
    return ids(responses.filter((response) => !waits(response))).slice(apis.size);
  },

  'a web ACL has no empty list of overrides': (stack) =>
    ids(
      stack
        .all('AWS::WAFv2::WebACL')
        .filter(({ Properties }) => JSON.stringify(Properties).includes('"RuleActionOverrides":[]')),
    ),

  'grants of keys are for AWS services alone': (stack) =>
    ids(
      stack
        .all('AWS::KMS::Key')
        .filter(({ Properties }) =>
          Properties.KeyPolicy.Statement.some(
            ({ Action, Condition }: { Action: string | string[]; Condition?: object }) =>
              [Action].flat().includes('kms:CreateGrant') &&
              !JSON.stringify(Condition ?? {}).includes('kms:GrantIsForAWSResource'),
          ),
        ),
    ),

  'no role may look up queues': (stack) =>
    ids(stack.all('AWS::IAM::Policy').filter((policy) => JSON.stringify(policy).includes('sqs:GetQueueUrl'))),

  'the standby is watched by a metric of Aurora PostgreSQL': (stack) =>
    ids(
      stack
        .all('AWS::CloudWatch::Alarm')
        .filter(({ Properties }) => /GlobalDB(?!RPOLag)/.test(Properties.MetricName ?? '')),
    ),
} satisfies Readonly<Record<string, Rule>>;
