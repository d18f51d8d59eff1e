import type { CfnSecurityGroup, IVpc } from 'aws-cdk-lib/aws-ec2';
import { SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';

export interface ClosedSecurityGroupProps {
  readonly vpc: IVpc;
  readonly description: string;
}

/**
 * A security group that lets nothing in or out but what is added to it.
 *
 * EC2 opens a group that is made without an egress rule to the whole internet, whatever rules are added to it later,
 * and the CDK leaves the group without one as soon as it adds a rule that names another group. The loopback rule
 * stays and allows nothing.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-ec2-securitygroup.html
 */
export class ClosedSecurityGroup extends SecurityGroup {
  constructor(scope: Construct, id: string, { vpc, description }: ClosedSecurityGroupProps) {
    super(scope, id, { vpc, description, allowAllOutbound: false, disableInlineRules: true });
    (this.node.defaultChild as CfnSecurityGroup).addPropertyOverride('SecurityGroupEgress', [
      { CidrIp: '127.0.0.1/32', IpProtocol: '-1', Description: 'Nothing' },
    ]);
  }
}
