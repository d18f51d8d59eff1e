import { type Rule, rules } from '../support/first-deployment';
import { StackTemplate, synthesizeEveryStack } from '../support/stacks';

const stacks = synthesizeEveryStack();
const serving = Object.values(stacks).find(({ environment }) => environment.databaseAccess === 'direct');
const standby = Object.entries(stacks).find(
  ([id, { environment }]) => id === environment.standby?.stackId,
)?.[1];

describe.each(Object.keys(rules) as (keyof typeof rules)[])('%s', (rule) => {
  it.each(Object.entries(stacks))('in %s', (_, stack) => {
    expect(rules[rule](stack)).toEqual([]);
  });
});

type Template = {
  Resources: Record<string, { Type: string; DeletionPolicy?: string; Properties: Properties }>;
};
// biome-ignore lint/suspicious/noExplicitAny: as CloudFormation has them
type Properties = any;

/** The logical ids of a type, in the template's order. */
const idsOf = ({ Resources }: Template, type: string) =>
  Object.keys(Resources).filter((id) => Resources[id]?.Type === type);
const change = (
  template: Template,
  type: string,
  id: RegExp,
  with_: object,
  key: 'Properties' | 'self' = 'Properties',
) => {
  const found = template.Resources[idsOf(template, type).find((each) => id.test(each)) ?? ''];
  Object.assign(key === 'self' ? (found ?? {}) : found?.Properties, with_);
};

it.each<[keyof typeof rules, (template: Template) => void, StackTemplate | undefined]>([
  [
    'the migration has time to wait for a new database, and six minutes then',
    (t) => change(t, 'AWS::Lambda::Function', /MigrateSchema/, { Timeout: 720 }),
    serving,
  ],
  [
    'no function trusts what the image of the runtime has',
    (t) =>
      change(t, 'AWS::Lambda::Function', /DeleteUserGroup/, {
        Environment: { Variables: { NODE_EXTRA_CA_CERTS: '/var/runtime/ca-cert.pem' } },
      }),
    serving,
  ],
  [
    'zones are named, none by its place in a list',
    (t) =>
      change(t, 'AWS::EC2::Subnet', /Private/, {
        AvailabilityZone: { 'Fn::Select': [0, { 'Fn::GetAZs': '' }] },
      }),
    serving,
  ],
  [
    'each function in the VPC gets an event a day',
    (t) => delete t.Resources[idsOf(t, 'AWS::Events::Rule').find((id) => /RunOperation/.test(id)) ?? ''],
    serving,
  ],
  [
    'a failed creation leaves no address, key, queue or log, but with a cluster that is kept',
    (t) => change(t, 'AWS::EC2::EIP', /./, { DeletionPolicy: 'Retain' }, 'self'),
    serving,
  ],
  [
    'what a cluster uses is kept with it',
    (t) => change(t, 'AWS::RDS::DBClusterParameterGroup', /./, { DeletionPolicy: 'Delete' }, 'self'),
    serving,
  ],
  [
    'the template says which version of PostgreSQL runs',
    (t) => change(t, 'AWS::RDS::DBInstance', /Reader/, { AutoMinorVersionUpgrade: true }),
    serving,
  ],
  [
    'gateway responses are made one after the other',
    (t) => change(t, 'AWS::ApiGateway::GatewayResponse', /THROTTLED/i, { DependsOn: [] }, 'self'),
    serving,
  ],
  [
    'a web ACL has no empty list of overrides',
    (t) =>
      change(t, 'AWS::WAFv2::WebACL', /./, {
        Rules: [{ Statement: { ManagedRuleGroupStatement: { RuleActionOverrides: [] } } }],
      }),
    serving,
  ],
  [
    'grants of keys are for AWS services alone',
    (t) =>
      change(t, 'AWS::KMS::Key', /Database/, {
        KeyPolicy: { Statement: [{ Action: ['kms:CreateGrant', 'kms:DescribeKey'] }] },
      }),
    serving,
  ],
  [
    'no role may look up queues',
    (t) =>
      change(t, 'AWS::IAM::Policy', /FanOut/, {
        PolicyDocument: { Statement: [{ Action: 'sqs:GetQueueUrl' }] },
      }),
    serving,
  ],
  [
    'the standby is watched by a metric of Aurora PostgreSQL',
    (t) => change(t, 'AWS::CloudWatch::Alarm', /./, { MetricName: 'AuroraGlobalDBReplicationLag' }),
    standby,
  ],
])('%s: a breach is found', (rule, breach, stack) => {
  const template = structuredClone(stack?.json) as Template;
  breach(template);
  const broken = new StackTemplate(stack?.environment as never, JSON.stringify(template), {});
  expect((rules[rule] as Rule)(broken)).toHaveLength(1);
});

it('every rule has a breach', () => {
  expect(Object.keys(rules)).toHaveLength(12);
});
