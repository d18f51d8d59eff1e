import { Lazy } from 'aws-cdk-lib';
import { type CfnSecurityGroup, type IPeer, type IVpc, type Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';

/**
 * A security group that lets nothing in or out but what is added to it. Its egress is inline: EC2 opens a group without an
 * egress rule to the whole internet, and one with inline and separate rules is reported as drifted.
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
