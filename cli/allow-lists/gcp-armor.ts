import { type AllowListFormat, hashed, lines } from './allow-list';

/** The lowest priority there is: that of the rule for all the rest, which every policy has. */
const lastPriority = 2_147_483_647;

/** Source: https://cloud.google.com/compute/docs/reference/rest/v1/securityPolicies */
export const gcpArmor: AllowListFormat = {
  title: 'Google Cloud Armor security policy',
  use: 'gcloud compute security-policies create NAME --file-name FILE, then attach it to the backend service of the webhooks.',
  hasHeader: true,
  render: ({ header, entries }) =>
    lines(
      hashed(header),
      'description: Admits wallet webhooks, and nothing else',
      'type: CLOUD_ARMOR',
      'rules:',
      entries.flatMap(({ cidr, description }, index) =>
        rule({
          description: `"Wallet webhooks from ${description}"`,
          action: 'allow',
          priority: 1000 + index,
          source: cidr,
        }),
      ),
      rule({ description: 'Everything else', action: 'deny(403)', priority: lastPriority, source: '"*"' }),
    ),
};

const rule = ({ description, action, priority, source }: Record<string, string | number>): string[] => [
  `  - description: ${description}`,
  `    action: ${action}`,
  `    priority: ${priority}`,
  '    preview: false',
  '    match:',
  '      versionedExpr: SRC_IPS_V1',
  '      config:',
  '        srcIpRanges:',
  `          - ${source}`,
];
