import { type AllowListFormat, json } from './allow-list';

/** Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AuthorizeSecurityGroupIngress.html */
export const awsSecurityGroup: AllowListFormat = {
  title: 'Amazon EC2 security group',
  use: 'aws ec2 authorize-security-group-ingress --group-id sg-… --cli-input-json file://FILE',
  hasHeader: false,
  render: ({ entries, port }) =>
    json({
      IpPermissions: [
        {
          IpProtocol: 'tcp',
          FromPort: port,
          ToPort: port,
          IpRanges: entries.map(({ cidr, description }) => ({
            CidrIp: cidr,
            Description: `Wallet webhooks from ${description}`,
          })),
        },
      ],
    }),
};
