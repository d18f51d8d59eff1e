import { newcomer, withoutSla, withReserve } from '../support/rows';
import { type StackTemplate, stackOf, synthesizeStacks } from '../support/stacks';

const stacks = synthesizeStacks();
const each = Object.values(stacks).map((stack) => [stack.environment.name, stack] as const);

// biome-ignore lint/suspicious/noExplicitAny: CloudFormation's intrinsic functions
type Intrinsic = any;

/** What CloudFormation makes of conditions when the zone's parameter has this value, and others their defaults. */
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

/** A template less its reserve, with texts in one piece. What differs otherwise is that the API is deployed anew. */
function withoutReserve(template: object): unknown {
  const rest = JSON.stringify(template, (_, value: Intrinsic) => {
    if (value?.['Fn::If']?.[0] === 'WebhookOriginReserveIsInUse') return value['Fn::If'][2];
    if (value?.['Fn::Join']?.[0] === '') {
      const text = value['Fn::Join'][1]
        .map((part: Intrinsic) =>
          typeof part === 'string' ? part : `{${JSON.stringify(Object.values(part))}}`,
        )
        .join('');
      return text.replace(
        // In a body, or in an ETag.
        /(?:,"(?:reserve|webhookOriginReserve)":\[?"|-)\{[^}]*WebhookOriginReserveElasticIp[^}]*\}(?:\/32"\]|")?/,
        '',
      );
    }
    if (typeof value !== 'object' || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value ?? {}).filter(([id]) => !/^WebhookOrigin\w*Reserve/.test(id)),
    );
  });
  return JSON.parse(rest.replace(/(ApiRestApiDeployment\w{8})[0-9a-f]{32}/g, '$1'));
}

const privateRoutes = (stack: StackTemplate) =>
  stack.all('AWS::EC2::Route').filter(({ logicalId }) => logicalId.includes('PrivateSubnet'));

describe.each(each)('the webhook origin of %s', (_, stack) => {
  it('is one Elastic IP, in every zone, on exactly one NAT gateway', () => {
    expect(stack.get('WebhookOriginElasticIp')).toMatchObject({ Type: 'AWS::EC2::EIP' });
    expect(stack.get('WebhookOriginElasticIp').Condition).toBeUndefined();
    const { choose } = deployedTo(stack, '1');
    expect(choose(stack.only('AWS::EC2::NatGateway').Properties.AllocationId)).toEqual({
      'Fn::GetAtt': ['WebhookOriginElasticIp', 'AllocationId'],
    });
  });

  it('is the address of the output', () => {
    expect(stack.json.Outputs.WebhookOriginAddress.Value).toEqual({
      'Fn::GetAtt': ['WebhookOriginElasticIp', 'PublicIp'],
    });
  });

  it('stands where the parameter says, in zone 1 by default', () => {
    expect(stack.json.Parameters.WebhookOriginZone).toMatchObject({
      Type: 'String',
      AllowedValues: ['1', '2', '3', 'none'],
      Default: '1',
    });
  });

  it.each(['1', '2', '3'])(
    'stands in the public subnet of zone %s when told so, with routes to it',
    (zone) => {
      const { choose, exists } = deployedTo(stack, zone);
      const gateway = stack.only('AWS::EC2::NatGateway');
      const subnet = choose(gateway.Properties.SubnetId);
      expect(subnet.Ref).toMatch(new RegExp(`^NetworkVpcPublicSubnet${zone}Subnet`));
      expect(stack.get(subnet.Ref).Properties.AvailabilityZone).toBe(
        stack.environment.zones[Number(zone) - 1],
      );
      expect([gateway, ...privateRoutes(stack)].every(({ Condition }) => exists(Condition))).toBe(true);
    },
  );

  it('leaves gateway, routes and what watches them out, and nothing else, when told none', () => {
    const { exists } = deployedTo(stack, 'none');
    const gone = stack.resources.filter(({ Condition }) => !exists(Condition)).map(({ Type }) => Type);
    expect(gone.filter((type) => type !== 'AWS::CloudWatch::Alarm').sort()).toEqual([
      'AWS::EC2::NatGateway',
      ...Array(3).fill('AWS::EC2::Route'),
    ]);
  });

  it('is the only way out of the private subnets, one route in each', () => {
    expect(privateRoutes(stack)).toHaveLength(3);
    for (const { Properties } of privateRoutes(stack))
      expect(Properties).toMatchObject({
        DestinationCidrBlock: '0.0.0.0/0',
        NatGatewayId: { 'Fn::GetAtt': ['WebhookOriginNatGateway', 'NatGatewayId'] },
      });
  });

  it('waits for the internet routes of all zones', () => {
    const waits = stack.only('AWS::EC2::NatGateway').DependsOn?.filter((id) => id.includes('DefaultRoute'));
    expect(waits).toHaveLength(3);
  });
});

describe('an adopted Elastic IP', () => {
  const adopted = { allocationId: 'eipalloc-0123456789abcdef0', address: '203.0.113.7' };
  const adopting = stackOf({ ...newcomer, adoptedElasticIp: adopted });

  it('is used instead of one that the stack makes', () => {
    expect(adopting.all('AWS::EC2::EIP')).toEqual([]);
    expect(adopting.only('AWS::EC2::NatGateway').Properties.AllocationId).toBe(adopted.allocationId);
    expect(adopting.json.Outputs.WebhookOriginAddress.Value).toBe(adopted.address);
  });
});

describe('an address from a pool', () => {
  it('is taken from the pool of the row, and kept like any other', () => {
    const publicIpv4Pool = 'ipv4pool-ec2-0123456789abcdef0';
    const pooled = stackOf({ ...newcomer, publicIpv4Pool });
    expect(pooled.get('WebhookOriginElasticIp')).toMatchObject({
      Properties: { Domain: 'vpc', PublicIpv4Pool: publicIpv4Pool },
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
  });
});

describe('a reserve address', () => {
  const reserving = stackOf(withReserve);
  const { WebhookOriginReserveElasticIp: reserve, WebhookOriginElasticIp: one } = reserving.json.Resources;

  it('is a second Elastic IP, kept and tagged like the one, and an output', () => {
    expect(reserve).toMatchObject({
      Type: 'AWS::EC2::EIP',
      DeletionPolicy: one.DeletionPolicy,
      UpdateReplacePolicy: 'Retain',
    });
    expect(reserve.Condition).toBeUndefined();
    expect(reserving.json.Outputs.WebhookOriginReserveAddress.Value).toEqual({
      'Fn::GetAtt': ['WebhookOriginReserveElasticIp', 'PublicIp'],
    });
  });

  it('is on the one gateway when the parameter says so, which it does not by default', () => {
    const { AllocationId } = reserving.only('AWS::EC2::NatGateway').Properties;
    expect(AllocationId).toEqual({
      'Fn::If': [
        'WebhookOriginReserveIsInUse',
        { 'Fn::GetAtt': ['WebhookOriginReserveElasticIp', 'AllocationId'] },
        { 'Fn::GetAtt': ['WebhookOriginElasticIp', 'AllocationId'] },
      ],
    });
    expect(reserving.json.Conditions.WebhookOriginReserveIsInUse).toEqual({
      'Fn::Equals': [{ Ref: 'WebhookOriginUsesReserve' }, 'yes'],
    });
    expect(reserving.json.Parameters.WebhookOriginUsesReserve).toMatchObject({
      AllowedValues: ['yes', 'no'],
      Default: 'no',
    });
  });

  it('is all that the property adds, where there is no alarm for it', () => {
    const { webhookOrigin: _, ...row } = withoutSla;
    const without = stackOf(row).json;
    const reserved = stackOf({ ...row, webhookOrigin: { reserve: true } }).json;
    const added = ['Resources', 'Parameters', 'Conditions', 'Outputs'].flatMap((section) =>
      Object.keys(reserved[section]).filter((id) => /^WebhookOrigin\w*Reserve/.test(id)),
    );
    expect(added).toEqual([
      'WebhookOriginReserveElasticIp',
      'WebhookOriginUsesReserve',
      'WebhookOriginReserveIsInUse',
      'WebhookOriginReserveAddress',
    ]);
    expect(withoutReserve(reserved)).toEqual(withoutReserve(without));
  });

  it('leaves the one address where it is promised', () => {
    expect(reserving.json.Outputs.WebhookOriginAddress.Value).toEqual({
      'Fn::GetAtt': ['WebhookOriginElasticIp', 'PublicIp'],
    });
  });

  it('may be one that exists already', () => {
    const adoptedReserve = { allocationId: 'eipalloc-0123456789abcdef1', address: '203.0.113.8' };
    const adopting = stackOf({ ...withReserve, webhookOrigin: { reserve: true, adoptedReserve } });
    expect(adopting.json.Resources.WebhookOriginReserveElasticIp).toBeUndefined();
    expect(adopting.json.Outputs.WebhookOriginReserveAddress.Value).toBe(adoptedReserve.address);
  });
});
