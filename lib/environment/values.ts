import { RegionInfo } from 'aws-cdk-lib/region-info';

/** Checks of values in the table of environments. */

/** The regions that the CDK knows; not those of China, of governments and the other partitions of their own. */
const regions = RegionInfo.regions.filter(({ partition }) => partition === 'aws').map(({ name }) => name);
export const isRegion = (value: unknown) => regions.some((region) => region === value);
export const regionRemedy =
  'such as eu-central-1. aws-cdk-lib lists those that there are; a newer one may need a newer version of it.';
export const domainPattern = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
/** https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html */
export const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];
/** A day that the calendar has: JavaScript takes the 30th of February for the 2nd of March. */
export const isDate = (value: unknown) =>
  typeof value === 'string' &&
  /^\d{4}-\d{2}-\d{2}$/.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString().startsWith(value);
/** A second in UTC, as CloudFormation takes it: `2026-11-21T10:30:00Z`. */
export const isMoment = (value: unknown) =>
  typeof value === 'string' &&
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString() === value.replace('Z', '.000Z');
export const isBoolean = (value: unknown) => typeof value === 'boolean';
export const matches = (pattern: RegExp) => (value: unknown) =>
  typeof value === 'string' && pattern.test(value);
export const wholeNumber = (least: number, most: number) => (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
export const capacityUnits = (least: number, most: number) => (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value * 2) && value >= least && value <= most;
export const isListOf = (isItem: (item: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.length > 0 && new Set(value).size === value.length && value.every(isItem);
export const isStackId = matches(/^[A-Z][A-Za-z0-9]{2,40}$/);
export const stackIdRemedy = 'Use a capital letter, then letters and digits only, 41 at most.';
/** Local Zones, which a region may have besides, have longer names. */
export const isZones = (region: string) => (value: unknown) =>
  isListOf((zone) => matches(/^[a-z0-9-]+[a-f]$/)(zone) && (zone as string).slice(0, -1) === region)(value) &&
  [2, 3].includes((value as readonly string[]).length);
export const zonesRemedy =
  'Name 2 or 3 availability zones of the region, each once, such as eu-central-1a; "aws ec2 describe-availability-zones" lists them.';
export const isVpcCidr = matches(/^10\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.0\.0\/16$/);
export const vpcCidrRemedy = 'Use a /16 block of 10.0.0.0/8, such as 10.10.0.0/16.';
/** https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-globalcluster.html */
export const isGlobalClusterIdentifier = matches(/^[a-z](-?[a-z0-9]){0,62}$/);
export const isLabels = isListOf(matches(/^\d{4}-(0[1-9]|1[0-2])[a-z]?$/));
export const labelsRemedy =
  'List the months of the keys, such as 2026-11 or 2026-11b, each once, the one that signs first.';
