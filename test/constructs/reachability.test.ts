import { environments } from '../../lib/environments';
import type { Template } from '../../local/assembly/manifest';
import { unreachable } from '../support/reachability';
import { withDirectAccess } from '../support/rows';
import { stackOf, synthesizeStacks } from '../support/stacks';

const stacks = synthesizeStacks(environments);
const positions = ['1', '2', '3', 'none'];

describe.each(environments)('$name', ({ name, region }) => {
  it.each(positions)(
    'with the webhook origin in %s, each function in the VPC reaches everything that it calls',
    (zone) => {
      expect(unreachable(stacks[name]?.json as Template, { region, zone })).toEqual([]);
    },
  );
});

describe('reports what blocks a connection', () => {
  const { json } = stackOf(withDirectAccess);
  type Resources = Record<string, { Type: string; Properties: Record<string, unknown> }>;
  /** The resource of this type whose logical id matches. */
  const find = (resources: Resources, type: string, id: RegExp) => {
    const found = Object.keys(resources).find((each) => resources[each]?.Type === type && id.test(each));
    return found ?? `no ${type} like ${id}`;
  };
  const remove = (type: string, id: RegExp) => (resources: Resources) => {
    delete resources[find(resources, type, id)];
  };
  const change = (type: string, id: RegExp, properties: object) => (resources: Resources) => {
    Object.assign(resources[find(resources, type, id)]?.Properties ?? {}, properties);
  };
  const elsewhere = {
    PolicyDocument: {
      Statement: [{ Effect: 'Allow', Action: '*', Resource: 'arn:another', Principal: { AWS: '*' } }],
    },
  };

  it.each<[string, (resources: Resources) => void, zone: string, expected: RegExp]>([
    [
      'an endpoint whose policy is for another secret',
      change('AWS::EC2::VPCEndpoint', /./, elsewhere),
      '1',
      /MigrateSchema\w+ cannot reach secretsmanager: the policy of the endpoint .* does not allow secretsmanager:GetSecretValue on DatabaseMasterSecret/,
    ],
    [
      'a database that admits nobody',
      remove('AWS::EC2::SecurityGroupIngress', /DatabaseCluster/),
      '2',
      /DeleteUserGroup\w+ cannot reach the database: no rule of .* lets it in/,
    ],
    [
      'egress for HTTPS alone',
      change('AWS::EC2::SecurityGroup', /WebhooksEgress/, {
        SecurityGroupEgress: [{ CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: 443, ToPort: 443 }],
      }),
      '3',
      /DeliverWebhook\w+ cannot reach receivers on port 1024/,
    ],
    [
      'a gateway in a subnet without a route',
      remove('AWS::EC2::Route', /PublicSubnet3/),
      '3',
      /DeliverWebhook\w+ cannot reach sqs: the subnet of WebhookOriginNatGateway has no route to the internet/,
    ],
    [
      'a consumer that stays enabled while no gateway has the origin address',
      change('AWS::Lambda::EventSourceMapping', /FanOut/, { Enabled: true }),
      'none',
      /FanOutEvent\w+ cannot reach sqs: .* has no route to a gateway/,
    ],
  ])('%s', (_, breach, zone, expected) => {
    const template = structuredClone(json) as unknown as Template;
    breach(template.Resources as Resources);
    expect(unreachable(template, { region: withDirectAccess.region, zone }).join('\n')).toMatch(expected);
  });
});
