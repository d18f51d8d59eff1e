import { isIPv4 } from 'node:net';
import type { Rule } from './rule';
import { isBoolean, matches } from './values';

/** The addresses that webhooks come from. */
export const originRules: readonly Rule[] = [
  ...adoptionRules('adoptedElasticIp'),
  {
    field: 'publicIpv4Pool',
    accepts: (value, { adoptedElasticIp }) =>
      matches(/^ipv4pool-ec2-[0-9a-f]{8,17}$/)(value) && adoptedElasticIp === undefined,
    remedy: 'Give the id of the pool, ipv4pool-ec2-…, and no adoptedElasticIp beside it, or leave it out.',
    optional: true,
  },
  {
    field: 'webhookOrigin.reserve',
    accepts: (value, { webhookOrigin }) =>
      isBoolean(value) && (value === true || webhookOrigin?.adoptedReserve === undefined),
    remedy: 'Say true, or false with no adoptedReserve beside it.',
  },
  ...adoptionRules('webhookOrigin.adoptedReserve'),
];

function adoptionRules(field: 'adoptedElasticIp' | 'webhookOrigin.adoptedReserve'): readonly Rule[] {
  return [
    {
      field: `${field}.allocationId`,
      accepts: matches(/^eipalloc-[0-9a-f]{8,17}$/),
      remedy: `Give the allocation id of the Elastic IP, eipalloc-…, or leave ${field.split('.').at(-1)} out.`,
    },
    {
      field: `${field}.address`,
      accepts: (value) => typeof value === 'string' && isIPv4(value),
      remedy: 'Give the IPv4 address of that allocation, such as 203.0.113.7.',
    },
  ];
}
