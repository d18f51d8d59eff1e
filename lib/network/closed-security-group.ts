import { Lazy } from 'aws-cdk-lib';
import { type CfnSecurityGroup, type IPeer, type IVpc, type Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';

/**
 * A security group that allows only the traffic added to it. Its egress is inline: without an egress rule, EC2 allows
 * all outbound traffic, and drift detection reports a group with inline and separate rules.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-ec2-securitygroup.html,
 * https://github.com/aws/aws-cdk/issues/21558
 */
export class ClosedSecurityGroup extends SecurityGroup {
  private readonly egress: CfnSecurityGroup.EgressProperty[] = [];

  constructor(scope: Construct, id: string, props: { readonly vpc: IVpc; readonly description: string }) {
    super(scope, id, { ...props, allowAllOutbound: false });
    const nothing = { cidrIp: '127.0.0.1/32', ipProtocol: '-1', description: 'Nothing' };
    (this.node.defaultChild as CfnSecurityGroup).securityGroupEgress = Lazy.any({
      produce: () => (this.egress.length > 0 ? this.egress : [nothing]),
    });
  }

  override addEgressRule(peer: IPeer, port: Port, description = ''): void {
    this.egress.push({ ...peer.toEgressRuleConfig(), ...port.toRuleJson(), description });
  }
}
