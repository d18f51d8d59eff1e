import { type AllowListFormat, json } from './allow-list';

/** Source: https://docs.aws.amazon.com/waf/latest/APIReference/API_CreateIPSet.html */
export const awsWaf: AllowListFormat = {
  title: 'AWS WAF IP set',
  use: 'aws wafv2 create-ip-set --cli-input-json file://FILE (add --scope CLOUDFRONT --region us-east-1 for CloudFront), then a rule that blocks what is not in the set.',
  hasHeader: false,
  render: ({ entries, description, name }) =>
    json({
      Name: name,
      Scope: 'REGIONAL',
      Description: `Wallet webhooks from ${description}`,
      IPAddressVersion: 'IPV4',
      Addresses: entries.map(({ cidr }) => cidr),
    }),
};
