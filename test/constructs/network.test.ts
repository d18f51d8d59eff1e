import { complete, withDirectAccess, withOtherOptions } from '../support/rows';
import { type Resource, type StackTemplate, stackOf, stacksOfShapes } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: CloudFormation's intrinsic functions
type Intrinsic = any;

/** Evaluates conditions with these parameters and the defaults of others. */
function deployedWith({ json }: StackTemplate, parameters: Readonly<Record<string, string>>) {
  const holds = (condition: Intrinsic): boolean => {
    if (condition['Fn::Not']) return !holds(condition['Fn::Not'][0]);
    const [left, right] = condition['Fn::Equals'];
    return (parameters[left.Ref] ?? json.Parameters[left.Ref].Default) === right;
  };
  const choose = (value: Intrinsic): Intrinsic => {
    if (!value['Fn::If']) return value;
    const [condition, yes, no] = value['Fn::If'];
    return choose(holds(json.Conditions[condition]) ? yes : no);
  };
  return { choose, exists: (condition = '') => condition === '' || holds(json.Conditions[condition]) };
}

const allocationOf = (id: string) => ({ 'Fn::GetAtt': [id, 'AllocationId'] });
const publicIpOf = (id: string) => ({ 'Fn::GetAtt': [id, 'PublicIp'] });

describe.each([
  ['one address', stackOf(withDirectAccess)],
  ['a reserve', stackOf(complete)],
])('the webhook origin with %s', (_, stack) => {
  const { zones } = stack.environment;
  const gateway = stack.only('AWS::EC2::NatGateway');

  it('has one gateway with one Elastic IP, which an output names, in the chosen zone, with all routes', () => {
    const privateRoutes = stack.all('AWS::EC2::Route').filter(({ Properties }) => Properties.NatGatewayId);
    expect(privateRoutes).toHaveLength(zones.length);
    expect(stack.json.Outputs.WebhookOriginAddress.Value).toEqual(publicIpOf('WebhookOriginElasticIp'));
    // Webhooks leave by these routes.
    const { SubnetIds } = stack.named('AWS::Lambda::Function', 'WebhooksDeliverWebhook').Properties.VpcConfig;
    for (const { Ref } of SubnetIds) expect(Ref).toContain('PrivateSubnet');
    const { AllowedValues, Default } = stack.json.Parameters.WebhookOriginZone;
    expect([...AllowedValues, Default]).toEqual([...zones.map((_, index) => `${index + 1}`), 'none', '1']);
    for (const [index, zone] of zones.entries()) {
      const { choose, exists } = deployedWith(stack, { WebhookOriginZone: String(index + 1) });
      const { logicalId, Properties } = stack.get(choose(gateway.Properties.SubnetId).Ref);
      expect([logicalId, Properties.AvailabilityZone]).toEqual([
        expect.stringContaining('PublicSubnet'),
        zone,
      ]);
      const addresses = [zone, choose(gateway.Properties.AllocationId)];
      expect(addresses).toEqual([zone, allocationOf('WebhookOriginElasticIp')]);
      for (const { logicalId, Condition } of [stack.get('WebhookOriginElasticIp'), gateway, ...privateRoutes])
        expect([logicalId, exists(Condition)]).toEqual([logicalId, true]);
    }
  });

  it('in zone none, has no gateway and none of its routes and alarms, but everything else', () => {
    const { exists } = deployedWith(stack, { WebhookOriginZone: 'none' });
    const gone = stack.resources.filter(({ Condition }) => !exists(Condition)).map(({ Type }) => Type);
    expect(gone.filter((type) => type !== 'AWS::CloudWatch::Alarm').sort()).toEqual([
      'AWS::EC2::NatGateway',
      ...zones.map(() => 'AWS::EC2::Route'),
    ]);
  });
});

it('a reserve is a second Elastic IP, published, and on the gateway only if the parameter is set', () => {
  const stack = stackOf(complete);
  const { choose } = deployedWith(stack, { WebhookOriginUsesReserve: 'yes' });
  const reserve = 'WebhookOriginReserveElasticIp';
  expect(stack.get(reserve).Condition).toBeUndefined();
  expect(stack.json.Outputs.WebhookOriginReserveAddress.Value).toEqual(publicIpOf(reserve));
  expect(choose(stack.only('AWS::EC2::NatGateway').Properties.AllocationId)).toEqual(allocationOf(reserve));
});

it('address and reserve may be existing ones', () => {
  const stack = stackOf(withOtherOptions);
  expect(stack.all('AWS::EC2::EIP')).toEqual([]);
  expect(stack.json.Outputs).toMatchObject({
    WebhookOriginAddress: { Value: withOtherOptions.adoptedElasticIp.address },
    WebhookOriginReserveAddress: { Value: withOtherOptions.webhookOrigin.adoptedReserve.address },
  });
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
