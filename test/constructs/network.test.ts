import { synthesizeStacks } from '../support/stacks';

const stacks = synthesizeStacks();

describe.each(Object.entries(stacks))('the network of %s', (_, stack) => {
  const subnets = stack.all('AWS::EC2::Subnet');

  /** The logical ids of the subnets of one kind. */
  const subnetsOf = (kind: 'Public' | 'Private' | 'Isolated') =>
    subnets
      .filter(({ logicalId }) => logicalId.startsWith(`NetworkVpc${kind}Subnet`))
      .map(({ logicalId }) => logicalId);

  it('has public, private and isolated subnets in the zones of the row, in their order', () => {
    for (const kind of ['Public', 'Private', 'Isolated'] as const) {
      const zones = subnetsOf(kind).map((id) => stack.get(id).Properties.AvailabilityZone);
      expect(zones).toEqual(stack.environment.zones);
    }
    expect(subnets).toHaveLength(9);
  });

  it('sends nothing but the public subnets to the internet gateway', () => {
    const direct = stack
      .all('AWS::EC2::Route')
      .filter(({ Properties }) => Properties.GatewayId !== undefined);
    expect(direct).toHaveLength(3);
    for (const { logicalId } of direct) expect(logicalId).toMatch(/^NetworkVpcPublicSubnet\dDefaultRoute/);
  });

  it('gives the isolated subnets no route at all', () => {
    const routes = stack.all('AWS::EC2::Route').map(({ logicalId }) => logicalId);
    expect(routes.filter((id) => id.includes('Isolated'))).toEqual([]);
    expect(routes).toHaveLength(6);
  });

  it('opens no security group but that of webhook delivery to everywhere, as EC2 does with one that is made without an egress rule', () => {
    const delivery = stack.named('AWS::EC2::SecurityGroup', 'WebhooksEgress').logicalId;
    for (const { logicalId, Properties } of stack.all('AWS::EC2::SecurityGroup')) {
      if (logicalId === delivery) continue;
      expect(Properties.SecurityGroupEgress).toHaveLength(1);
      const [{ CidrIp, DestinationSecurityGroupId }] = Properties.SecurityGroupEgress;
      expect(CidrIp ?? DestinationSecurityGroupId['Fn::GetAtt'][1]).toMatch(/^(127\.0\.0\.1\/32|GroupId)$/);
    }
  });

  // https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1198
  it('has no security group with both inline and separate egress, which is reported as drift', () => {
    expect(stack.all('AWS::EC2::SecurityGroupEgress')).toEqual([]);
  });

  it('empties the default security group', () => {
    expect(stack.only('Custom::VpcRestrictDefaultSG').Properties.DefaultSecurityGroupId).toEqual({
      'Fn::GetAtt': [stack.only('AWS::EC2::VPC').logicalId, 'DefaultSecurityGroup'],
    });
  });

  it('logs all flows, in the region, for a stated time', () => {
    const flowLog = stack.only('AWS::EC2::FlowLog').Properties;
    expect(flowLog).toMatchObject({ TrafficType: 'ALL', LogDestinationType: 'cloud-watch-logs' });
    expect(stack.get(flowLog.LogGroupName.Ref).Properties.RetentionInDays).toBe(
      stack.environment.logRetentionDays,
    );
  });
});
