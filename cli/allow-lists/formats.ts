import { parseJson } from '../json';
import {
  type AllowListFormat,
  type AllowListOptions,
  createAllowList,
  defaultOptions,
  type WebhookOrigin,
} from './allow-list';
import { apache } from './apache';
import { awsSecurityGroup } from './aws-security-group';
import { awsWaf } from './aws-waf';
import { azureNsg } from './azure-nsg';
import { caddy } from './caddy';
import { cloudflare } from './cloudflare';
import { gcpArmor } from './gcp-armor';
import { haproxy } from './haproxy';
import { iptables } from './iptables';
import { json } from './json';
import { kubernetes } from './kubernetes';
import { nftables } from './nftables';
import { nginx } from './nginx';
import { terraform } from './terraform';
import { text } from './text';
import { ufw } from './ufw';

/** By the names that `--format` takes, in the order of the help. */
export const allowListFormats = {
  json,
  text,
  nginx,
  apache,
  caddy,
  haproxy,
  iptables,
  nftables,
  ufw,
  'aws-security-group': awsSecurityGroup,
  'aws-waf': awsWaf,
  terraform,
  kubernetes,
  cloudflare,
  'gcp-armor': gcpArmor,
  'azure-nsg': azureNsg,
} as const satisfies Readonly<Record<string, AllowListFormat>>;

export type AllowListFormatName = keyof typeof allowListFormats;

export const allowListFormatNames = Object.keys(allowListFormats) as readonly AllowListFormatName[];

/**
 * The allow-list of these addresses, without a line break at its end. The same input gives the same text.
 *
 * @param origins at least one, with addresses that `kindOfAddress` finds usable.
 */
export function formatAllowList(
  name: AllowListFormatName,
  origins: readonly WebhookOrigin[],
  options: Partial<AllowListOptions> = {},
): string {
  const format = allowListFormats[name];
  return format.render(createAllowList(origins, format.use, { ...defaultOptions, ...options }));
}

/** What a rendered list is served as. YAML and configuration files are text, which browsers show. */
export const formatMediaType = (text: string): string =>
  parseJson(text) === undefined ? 'text/plain; charset=utf-8' : 'application/json';
