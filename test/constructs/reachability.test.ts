import { environments } from '../../lib/environments';
import { unreachable } from '../support/reachability';
import { withDirectAccess } from '../support/rows';
import { stackOf } from '../support/stacks';

it.each(environments)('each function in the VPC of $name reaches everything that it calls', (row) => {
  for (const zone of ['1', '2', '3', 'none']) {
    expect(unreachable(stackOf(row).json, { region: row.region, zone })).toEqual([]);
  }
});

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Resources = Record<string, any>;

it.each<
  [defect: string, type: string, id: RegExp, properties: object | undefined, zone: string, expected: RegExp]
>([
  [
    'an endpoint whose policy is for another secret',
    'EC2::VPCEndpoint',
    /./,
    {
      PolicyDocument: {
        Statement: [{ Effect: 'Allow', Action: '*', Resource: 'arn:another', Principal: '*' }],
      },
    },
    '1',
    /^SchemaMigrationMigrateSchema\w+ cannot reach secretsmanager$/,
  ],
  [
    'a database that admits nobody',
    'EC2::SecurityGroupIngress',
    /DatabaseCluster/,
    undefined,
    '2',
    /DeleteUserGroup\w+ cannot reach the database/,
  ],
  [
    'egress for HTTPS alone',
    'EC2::SecurityGroup',
    /WebhooksEgress/,
    { SecurityGroupEgress: [{ CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: 443, ToPort: 443 }] },
    '3',
    /DeliverWebhook\w+ cannot reach receivers/,
  ],
  [
    'a gateway in a subnet without a route',
    'EC2::Route',
    /PublicSubnet3/,
    undefined,
    '3',
    /DeliverWebhook\w+ cannot reach sqs/,
  ],
  [
    'a consumer that stays enabled while no gateway has the origin address',
    'Lambda::EventSourceMapping',
    /FanOut/,
    { Enabled: true },
    'none',
    /FanOutEvent\w+ cannot reach sqs/,
  ],
])('finds %s', (_, type, id, properties, zone, expected) => {
  const template = structuredClone(stackOf(withDirectAccess).json);
  const resources: Resources = template.Resources;
  const key =
    Object.keys(resources).find((each) => resources[each].Type === `AWS::${type}` && id.test(each)) ?? '';
  if (properties) Object.assign(resources[key].Properties, properties);
  else delete resources[key];
  expect(unreachable(template, { region: withDirectAccess.region, zone }).join('\n')).toMatch(expected);
});
