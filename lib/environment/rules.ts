import { originRules } from './origin-rules';
import { restoreRules } from './restore';
import type { Rule } from './rule';
import { standbyRules } from './standby-rules';
import {
  capacityUnits,
  domainPattern,
  isBoolean,
  isDate,
  isGlobalClusterIdentifier,
  isLabels,
  isListOf,
  isRegion,
  isStackId,
  isVpcCidr,
  isZones,
  labelsRemedy,
  matches,
  regionRemedy,
  retentions,
  stackIdRemedy,
  vpcCidrRemedy,
  wholeNumber,
  zonesRemedy,
} from './values';

/** Fields of which no two have the same value, in one row or in several. */
export const uniqueFields: readonly (readonly string[])[] = [
  ['name'],
  ['stackId', 'standby.stackId'],
  ['vpcCidr', 'standby.vpcCidr'],
  ['standby.globalClusterIdentifier'],
  ['tokenIssuer'],
  ['domainNames.api', 'domainNames.dashboard'],
  ['adoptedElasticIp.allocationId', 'webhookOrigin.adoptedReserve.allocationId'],
  ['localPort', 'localDashboardPort'],
];

/** Objects that may be left out as a whole. */
export const optionalObjects: readonly string[] = [
  'adoptedElasticIp',
  'database.restoreFrom',
  'deprecation',
  'domainNames',
  'domainNames.hostedZone',
  'standby',
  'webhookOrigin',
  'webhookOrigin.adoptedReserve',
];

export const environmentRules: readonly Rule[] = [
  {
    field: 'name',
    accepts: matches(/^[a-z][a-z0-9-]{0,20}$/),
    remedy: 'Use 1 to 21 lowercase letters, digits and hyphens, a letter first.',
  },
  { field: 'stackId', accepts: isStackId, remedy: stackIdRemedy },
  {
    field: 'purpose',
    accepts: matches(/^.{1,100}$/),
    remedy: 'Say in 1 to 100 characters what the environment is for.',
  },
  {
    field: 'region',
    accepts: isRegion,
    remedy: `Give the code of an AWS region, ${regionRemedy}`,
  },
  {
    field: 'residencyRegions',
    accepts: (value, { region }) => isListOf(isRegion)(value) && (value as string[]).includes(region),
    remedy: `List the codes of AWS regions, each once, with the row's region among them, ${regionRemedy}`,
  },
  {
    // A reader needs a second zone, and Aurora's storage spans three:
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Concepts.AuroraHighAvailability.html
    field: 'zones',
    accepts: (value, { region }) => isZones(region)(value),
    remedy: zonesRemedy,
  },
  { field: 'vpcCidr', accepts: isVpcCidr, remedy: vpcCidrRemedy },
  {
    field: 'chains',
    accepts: isListOf((chain) => chain === 'mainnet' || chain === 'testnet'),
    remedy: 'List mainnet, testnet or both, each once.',
  },
  {
    field: 'support.contact',
    accepts: matches(/^([^@\s]+@[^@\s]+\.[^@\s]+|https:\/\/\S+)$/),
    remedy: 'Give the mail address, or the https URL, that receivers of webhooks turn to.',
  },
  {
    field: 'support.guide',
    accepts: matches(/^https:\/\/\S+$/),
    remedy: 'Give the https URL under which docs/receivers.md is published.',
  },
  { field: 'serviceLevelAgreement', accepts: isBoolean, remedy: 'Write true or false.' },
  { field: 'testFundsOnly', accepts: isBoolean, remedy: 'Write true or false.' },
  {
    field: 'deprecation.since',
    accepts: isDate,
    remedy: 'Give the day as YYYY-MM-DD, or leave deprecation out.',
  },
  {
    field: 'deprecation.sunset',
    accepts: (value, { deprecation }) => isDate(value) && (value as string) > (deprecation?.since ?? ''),
    remedy: 'Give a day after deprecation.since as YYYY-MM-DD, or leave it out while it is not decided.',
    optional: true,
  },
  {
    field: 'databaseAccess',
    accepts: (value) => value === 'data-api' || value === 'direct',
    remedy: 'Use data-api where the region has the RDS Data API, otherwise direct.',
  },
  {
    // https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ServerlessV2ScalingConfiguration.html
    field: 'database.capacity.minimum',
    accepts: (value, { serviceLevelAgreement, standby }) =>
      capacityUnits(serviceLevelAgreement || standby ? 0.5 : 0, 256)(value),
    remedy:
      'Use 0 to 256 in halves; at least 0.5 with a service level agreement or a standby: such a cluster must not pause.',
  },
  {
    field: 'database.capacity.maximum',
    accepts: (value, { database }) =>
      capacityUnits(1, 256)(value) && (value as number) >= database.capacity.minimum,
    remedy: 'Use 1 to 256 in halves, not less than the minimum.',
  },
  {
    // https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ServerlessV2ScalingConfiguration.html
    field: 'database.pauseAfterMinutes',
    accepts: (value, { database }) =>
      database.capacity.minimum === 0 ? wholeNumber(5, 1440)(value) : value === undefined,
    remedy: 'Use 5 to 1440 with a minimum capacity of 0; leave it out otherwise.',
  },
  {
    field: 'database.readers',
    accepts: (value, { serviceLevelAgreement }) => wholeNumber(serviceLevelAgreement ? 1 : 0, 15)(value),
    remedy: 'Use 0 to 15; at least 1 with a service level agreement.',
  },
  {
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.Managing.Backups.html
    field: 'database.backupRetentionDays',
    accepts: (value, { serviceLevelAgreement }) => wholeNumber(serviceLevelAgreement ? 35 : 1, 35)(value),
    remedy: 'Use 1 to 35 days; 35 with a service level agreement.',
  },
  {
    field: 'database.deletionProtection',
    accepts: (value, { serviceLevelAgreement }) =>
      isBoolean(value) && (value === true || !serviceLevelAgreement),
    remedy: 'Write true or false; true with a service level agreement.',
  },
  {
    field: 'database.replicaOf',
    accepts: (value, { standby, database }) =>
      isGlobalClusterIdentifier(value) &&
      value !== standby?.globalClusterIdentifier &&
      database.restoreFrom === undefined,
    remedy:
      'Give the name of the global database, not that of the standby; leave it out of a cluster that began empty or is restored.',
    optional: true,
  },
  ...restoreRules,
  {
    field: 'alarmEmail',
    accepts: (value, { serviceLevelAgreement }) =>
      serviceLevelAgreement && matches(/^[^\s@]{1,64}@[^\s@]+\.[^\s@.]+$/)(value),
    remedy:
      'Give one e-mail address, or leave it out; without a service level agreement there are no alarms.',
    optional: true,
  },
  {
    field: 'logRetentionDays',
    accepts: (value) => retentions.some((days) => days === value),
    remedy: `Use one of CloudWatch's retentions: ${retentions.join(', ')}.`,
  },
  {
    // The account's default quota in the newer regions is 2,500; a stage cannot have more than the account.
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
    field: 'throttle.requestsPerSecond',
    accepts: wholeNumber(1, 2500),
    remedy: 'Use 1 to 2500 requests a second.',
  },
  {
    field: 'throttle.burst',
    accepts: (value, { throttle }) =>
      wholeNumber(1, 1250)(value) && (value as number) >= throttle.requestsPerSecond,
    remedy: 'Use at most 1250 requests, not fewer than throttle.requestsPerSecond.',
  },
  {
    field: 'tokenIssuer',
    accepts: (value) => matches(/^https:\/\/\S+[^/]$/)(value) && URL.canParse(value as string),
    remedy: 'Give an https URL without a slash at its end, such as https://eu.wallet-infrastructure.example.',
  },
  { field: 'signingKeyLabels.accessToken', accepts: isLabels, remedy: labelsRemedy },
  { field: 'signingKeyLabels.userAction', accepts: isLabels, remedy: labelsRemedy },
  {
    field: 'accessTokenMinutes',
    accepts: wholeNumber(5, 10_080),
    remedy: 'Use 5 to 10080 minutes (a week), or leave it out for a day.',
    optional: true,
  },
  {
    field: 'domainNames.api',
    accepts: matches(domainPattern),
    remedy: 'Give a domain name in lowercase, or leave domainNames out.',
  },
  {
    field: 'domainNames.dashboard',
    accepts: (value, { domainNames }) => matches(domainPattern)(value) && value !== domainNames?.api,
    remedy: 'Give a domain name in lowercase that is not the one of the API.',
  },
  {
    field: 'domainNames.hostedZone.id',
    accepts: matches(/^Z[A-Z0-9]{1,31}$/),
    remedy: 'Give the id of the Route 53 zone, such as Z0123456789ABCDEFGHIJ, or leave hostedZone out.',
  },
  {
    field: 'domainNames.hostedZone.name',
    accepts: (value, { domainNames }) =>
      matches(domainPattern)(value) &&
      [domainNames?.api, domainNames?.dashboard].every((name) => `.${name}`.endsWith(`.${value}`)),
    remedy: 'Give the name of the zone that both names are in, without a dot at its end.',
  },
  {
    field: 'domainNames.certificateArn',
    accepts: (value, { region, domainNames }) =>
      value === undefined
        ? domainNames?.hostedZone !== undefined
        : matches(/^arn:[a-z-]+:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/)(value) &&
          (value as string).split(':')[3] === region,
    remedy:
      'Give the ARN of an ACM certificate in the region that serves; leave it out with a hosted zone only.',
  },
  ...originRules,
  { field: 'localPort', accepts: wholeNumber(1024, 65535), remedy: 'Use a port from 1024 to 65535.' },
  {
    field: 'localDashboardPort',
    accepts: (value, { localPort }) => wholeNumber(1024, 65535)(value) && value !== localPort,
    remedy: 'Use a port from 1024 to 65535 that is not the one of the API.',
  },
  ...standbyRules,
];
