/**
 * What the targets accept, written down from their documentation and closed: a property that is not named here is an
 * error, as is one that is missing. The real tools that Debian has are in `test/tools`.
 */
const closed = (properties: Record<string, object>, optional: readonly string[] = []) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

const text = (pattern?: string, maxLength?: number) => ({
  type: 'string',
  ...(pattern && { pattern }),
  ...(maxLength && { maxLength }),
});
const integer = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum });

const cidr = text('^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|(?=/))){4}/(?:3[0-2]|[12]?\\d)$');
const azureName = text('^[a-zA-Z0-9][a-zA-Z0-9_.-]*[a-zA-Z0-9_]$', 80);

const listOf = (items: object) => ({ type: 'array', items, minItems: 1 });

/** Terraform's names. */
const named = (value: object) => ({
  type: 'object',
  patternProperties: { '^[a-z_][a-z0-9_]*$': value },
  additionalProperties: false,
});

export const schemas = {
  json: listOf(
    closed(
      {
        environment: { type: 'string', minLength: 1 },
        region: text('^[a-z]{2}-[a-z]+-\\d$'),
        addresses: { ...listOf(cidr), maxItems: 1 },
        reserve: { ...listOf(cidr), maxItems: 1 },
        deprecated: { type: 'boolean' },
        deprecation: closed({ since: text(), sunset: text() }, ['sunset']),
      },
      ['reserve', 'deprecation'],
    ),
  ),

  // https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_IpPermission.html and API_IpRange.html
  'aws-security-group': closed({
    IpPermissions: listOf(
      closed({
        IpProtocol: { enum: ['tcp', 'udp', 'icmp', 'icmpv6', '-1'] },
        FromPort: integer(0, 65_535),
        ToPort: integer(0, 65_535),
        IpRanges: listOf(
          closed({
            CidrIp: cidr,
            Description: text('^[a-zA-Z0-9 ._\\-:/()#,@\\[\\]+=&;{}!$*]+$', 255),
          }),
        ),
      }),
    ),
  }),

  // https://docs.aws.amazon.com/waf/latest/APIReference/API_CreateIPSet.html
  'aws-waf': closed({
    Name: text('^[\\w\\-]+$', 128),
    Scope: { enum: ['CLOUDFRONT', 'REGIONAL'] },
    Description: text('^[\\w+=:#@/\\-,\\.][\\w+=:#@/\\-,\\.\\s]+[\\w+=:#@/\\-,\\.]$', 256),
    IPAddressVersion: { enum: ['IPV4', 'IPV6'] },
    Addresses: { ...listOf(cidr), uniqueItems: true },
  }),

  // https://developer.hashicorp.com/terraform/language/syntax/json (comments, expressions, block types)
  terraform: closed({
    '//': text(),
    locals: named(listOf(cidr)),
    output: named(
      closed({
        description: text(),
        value: text('^\\$\\{local\\.[a-z_][a-z0-9_]*\\}$'),
      }),
    ),
  }),

  // https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/
  kubernetes: closed({
    apiVersion: { const: 'networking.k8s.io/v1' },
    kind: { const: 'NetworkPolicy' },
    metadata: closed({
      name: text('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 253),
    }),
    spec: closed({
      // An empty selector would take in every pod of the namespace.
      podSelector: closed({
        matchLabels: {
          type: 'object',
          minProperties: 1,
          additionalProperties: text('', 63),
        },
      }),
      policyTypes: { type: 'array', const: ['Ingress'] },
      ingress: listOf(
        closed({
          from: listOf(closed({ ipBlock: closed({ cidr }) })),
          ports: listOf(
            closed({
              protocol: { enum: ['TCP', 'UDP', 'SCTP'] },
              port: integer(1, 65_535),
            }),
          ),
        }),
      ),
    }),
  }),

  // https://developers.cloudflare.com/waf/tools/lists/custom-lists/ (IPv4 from /8 to /32) and
  // https://developers.cloudflare.com/api/resources/rules/subresources/lists/subresources/items/methods/create/
  cloudflare: listOf(closed({ ip: cidr, comment: text('', 500) })),

  // https://cloud.google.com/compute/docs/reference/rest/v1/securityPolicies
  'gcp-armor': closed({
    description: text(),
    type: { enum: ['CLOUD_ARMOR', 'CLOUD_ARMOR_EDGE', 'CLOUD_ARMOR_NETWORK'] },
    rules: listOf(
      closed({
        description: text(),
        action: { enum: ['allow', 'deny(403)', 'deny(404)', 'deny(502)'] },
        priority: integer(0, 2_147_483_647),
        preview: { type: 'boolean' },
        match: closed({
          versionedExpr: { const: 'SRC_IPS_V1' },
          config: closed({ srcIpRanges: { ...listOf({ anyOf: [cidr, { const: '*' }] }), maxItems: 10 } }),
        }),
      }),
    ),
  }),

  // https://learn.microsoft.com/azure/azure-resource-manager/templates/syntax and
  // https://learn.microsoft.com/azure/templates/microsoft.network/2023-11-01/networksecuritygroups/securityrules
  'azure-nsg': closed({
    $schema: { const: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#' },
    contentVersion: text('^\\d+\\.\\d+\\.\\d+\\.\\d+$'),
    resources: listOf(
      closed({
        type: { const: 'Microsoft.Network/networkSecurityGroups' },
        apiVersion: { const: '2023-11-01' },
        name: azureName,
        location: { const: '[resourceGroup().location]' },
        properties: closed({
          securityRules: listOf(
            closed({
              name: azureName,
              properties: closed({
                description: text('', 140),
                access: { enum: ['Allow', 'Deny'] },
                direction: { enum: ['Inbound', 'Outbound'] },
                priority: integer(100, 4096),
                protocol: { enum: ['*', 'Ah', 'Esp', 'Icmp', 'Tcp', 'Udp'] },
                sourceAddressPrefix: cidr,
                sourcePortRange: { const: '*' },
                destinationAddressPrefix: { const: '*' },
                destinationPortRange: text('^\\d{1,5}$'),
              }),
            }),
          ),
        }),
      }),
    ),
  }),
} as const;

export type SchemaName = keyof typeof schemas;
