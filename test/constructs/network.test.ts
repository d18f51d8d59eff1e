import { fullDiff } from '@aws-cdk/cloudformation-diff';
import { complete, withDirectAccess, withOtherOptions } from '../support/rows';
import {
  type Resource,
  type StackTemplate,
  stackOf,
  stacksOfShapes,
  synthesizeEveryStack,
} from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: CloudFormation's intrinsic functions
type Intrinsic = any;

/** Evaluates conditions with this zone parameter and the defaults of other parameters. */
function deployedTo({ json }: StackTemplate, zone: string) {
  const holds = (condition: Intrinsic): boolean => {
    if (condition['Fn::Not']) return !holds(condition['Fn::Not'][0]);
    const [left, right] = condition['Fn::Equals'];
    return (left.Ref === 'WebhookOriginZone' ? zone : json.Parameters[left.Ref].Default) === right;
  };
  const choose = (value: Intrinsic): Intrinsic => {
    if (!value['Fn::If']) return value;
    const [condition, yes, no] = value['Fn::If'];
    return choose(holds(json.Conditions[condition]) ? yes : no);
  };
  return { choose, exists: (condition = '') => condition === '' || holds(json.Conditions[condition]) };
}

const addressOf = (stack: StackTemplate) => stack.only('AWS::EC2::NatGateway').Properties.AllocationId;
const attributeOf = (id: string, name: string) => ({ 'Fn::GetAtt': [id, name] });
const one = attributeOf('WebhookOriginElasticIp', 'AllocationId');

describe.each([
  ['one address', stackOf(withDirectAccess)],
  ['a reserve', stackOf(complete)],
])('the webhook origin with %s', (_, stack) => {
  const { zones } = stack.environment;
  const gateway = stack.only('AWS::EC2::NatGateway');
  const privateRoutes = stack
    .all('AWS::EC2::Route')
    .filter(({ logicalId }) => logicalId.includes('PrivateSubnet'));

  it('is one Elastic IP, named by an output, in the first zone by default', () => {
    expect(stack.get('WebhookOriginElasticIp').Condition).toBeUndefined();
    expect(stack.json.Outputs.WebhookOriginAddress.Value).toEqual(
      attributeOf('WebhookOriginElasticIp', 'PublicIp'),
    );
    expect(stack.json.Parameters.WebhookOriginZone).toMatchObject({
      AllowedValues: [...zones.map((_, index) => String(index + 1)), 'none'],
      Default: '1',
    });
  });

  it('has one gateway with that address in the chosen zone, with a route from every private subnet', () => {
    expect(privateRoutes.map(({ Properties }) => Properties)).toMatchObject(
      zones.map(() => ({
        DestinationCidrBlock: '0.0.0.0/0',
        NatGatewayId: attributeOf(gateway.logicalId, 'NatGatewayId'),
      })),
    );
    for (const [index, zone] of zones.entries()) {
      const { choose, exists } = deployedTo(stack, String(index + 1));
      const { logicalId, Properties } = stack.get(choose(gateway.Properties.SubnetId).Ref);
      expect([logicalId, Properties.AvailabilityZone]).toEqual([
        expect.stringContaining('PublicSubnet'),
        zone,
      ]);
      expect([zone, choose(addressOf(stack))]).toEqual([zone, one]);
      for (const { logicalId, Condition } of [gateway, ...privateRoutes])
        expect([logicalId, exists(Condition)]).toEqual([logicalId, true]);
    }
    // After the internet routes of all zones.
    expect([gateway.DependsOn].flat().filter((id) => id?.includes('DefaultRoute'))).toHaveLength(
      zones.length,
    );
  });

  it('in zone none, has no gateway and none of its routes and alarms, but everything else', () => {
    const { exists } = deployedTo(stack, 'none');
    const gone = stack.resources.filter(({ Condition }) => !exists(Condition)).map(({ Type }) => Type);
    expect(gone.filter((type) => type !== 'AWS::CloudWatch::Alarm').sort()).toEqual([
      'AWS::EC2::NatGateway',
      ...zones.map(() => 'AWS::EC2::Route'),
    ]);
  });

  it('consumes the queues through the origin only while it is attached, and after its routes exist', () => {
    const routes = privateRoutes.map(({ logicalId }) => ({ Ref: logicalId }));
    const ifAttached = (yes: unknown, no: unknown) => ({ 'Fn::If': ['WebhookOriginIsAttached', yes, no] });
    const consumers = stack.all('AWS::Lambda::EventSourceMapping');
    expect(consumers).toHaveLength(3);
    for (const { logicalId, Properties, Metadata, Condition } of consumers) {
      const { VpcConfig = {} } = stack.get(Properties.FunctionName.Ref).Properties;
      const throughOrigin = JSON.stringify(VpcConfig).includes('PrivateSubnet');
      const isDelivery = Properties.EventSourceArn['Fn::GetAtt'][0] !== 'WebhookEventsQueue';
      if (isDelivery) expect([logicalId, throughOrigin]).toEqual([logicalId, true]);
      const promised = throughOrigin && {
        enabled: ifAttached(true, false),
        after: ifAttached(expect.arrayContaining(routes), { Ref: 'AWS::NoValue' }),
      };
      const found = { logicalId, enabled: Properties.Enabled, after: Metadata?.After, Condition };
      expect(found).toEqual({ logicalId, ...promised });
    }
  });
});

it('address and reserve may be existing ones', () => {
  const { adoptedElasticIp, webhookOrigin } = withOtherOptions;
  const adopting = stackOf(withOtherOptions);
  expect(adopting.all('AWS::EC2::EIP')).toEqual([]);
  const { WebhookOriginAddress, WebhookOriginReserveAddress } = adopting.json.Outputs;
  expect(WebhookOriginAddress.Value).toBe(adoptedElasticIp.address);
  expect(WebhookOriginReserveAddress.Value).toBe(webhookOrigin.adoptedReserve.address);
});

it('a reserve is a second Elastic IP, published, and on the gateway only if the parameter is set', () => {
  const stack = stackOf(complete);
  const reserve = 'WebhookOriginReserveElasticIp';
  expect(stack.get(reserve).Condition).toBeUndefined();
  expect(stack.json.Outputs.WebhookOriginReserveAddress.Value).toEqual(attributeOf(reserve, 'PublicIp'));
  const isUsed = 'WebhookOriginReserveIsInUse';
  expect(addressOf(stack)).toEqual({ 'Fn::If': [isUsed, attributeOf(reserve, 'AllocationId'), one] });
  const parameter = { Ref: 'WebhookOriginUsesReserve' };
  expect(stack.json.Conditions[isUsed]).toEqual({ 'Fn::Equals': [parameter, 'yes'] });
});

/** Services that act with a function's role from outside its network, and signing in, for which the function makes a token. */
const notCalled = ['logs', 'ec2', 'rds-db'];
const group = (reference: Intrinsic): string => reference['Fn::GetAtt'][0];

const serving = stacksOfShapes().filter(([, stack]) => stack.serves);
it.each(serving)('each function in the VPC of %s reaches everything that it calls', (_, stack) => {
  const { VpcSecurityGroupIds, Port } = stack.only('AWS::RDS::DBCluster').Properties;
  const inVpc = stack.all('AWS::Lambda::Function').filter(({ Properties }) => Properties.VpcConfig);
  expect(inVpc).not.toEqual([]);
  /** Whether one of the targets' security groups admits one of the function's. */
  const admits = (targets: Intrinsic[], { Properties }: Resource, port: number): boolean =>
    stack
      .all('AWS::EC2::SecurityGroupIngress')
      .map((ingress) => ingress.Properties)
      .filter(({ GroupId, FromPort }) => targets.map(group).includes(group(GroupId)) && FromPort === port)
      .some(({ SourceSecurityGroupId: source }) =>
        Properties.VpcConfig.SecurityGroupIds.map(group).includes(group(source)),
      );
  for (const lambda of inVpc) {
    const { logicalId, Properties } = lambda;
    if (Properties.Environment.Variables.DATABASE_HOST)
      expect([logicalId, admits(VpcSecurityGroupIds, lambda, Port)]).toEqual([logicalId, true]);
    // The private subnets' routes lead everywhere.
    if (!JSON.stringify(Properties.VpcConfig.SubnetIds).includes('IsolatedSubnet')) continue;
    const reachable = stack
      .all('AWS::EC2::VPCEndpoint')
      .filter((endpoint) => admits(endpoint.Properties.SecurityGroupIds, lambda, 443))
      .map((endpoint) => endpoint.Properties.ServiceName.split('.').at(-1));
    const called = stack
      .statementsOf(lambda)
      // `kms:ViaService`: Secrets Manager decrypts on the function's behalf.
      .filter(({ Effect, Condition }) => Effect === 'Allow' && !Condition)
      .flatMap(({ Action }) => Action)
      .map((action: string) => action.split(':')[0] as string)
      .filter((service) => !notCalled.includes(service));
    expect([logicalId, ...new Set(called)]).toEqual([logicalId, ...reachable]);
  }
});

it('no tag of a row replaces a resource', () => {
  for (const { text, json } of Object.values(synthesizeEveryStack([complete]))) {
    expect(text).toContain('"cost-center"');
    const retagged = JSON.parse(text.replaceAll('"cost-center"', '"cost-centre"'));
    const replaced = Object.entries(fullDiff(json, retagged).resources.changes).filter(
      ([, { changeImpact, propertyUpdates }]) =>
        changeImpact !== 'WILL_UPDATE' ||
        Object.values(propertyUpdates).some(({ changeImpact: impact }) => /REPLACE/.test(impact ?? '')),
    );
    expect(replaced.map(([id]) => id)).toEqual([]);
  }
});
