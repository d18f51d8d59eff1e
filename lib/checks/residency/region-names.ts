import { RegionInfo } from 'aws-cdk-lib/region-info';

const names = RegionInfo.regions.map(({ name }) => name);

// A letter or digit before it is another word; a letter after it is an availability zone; hyphens are both around a
// region in names such as s3-eu-west-1.amazonaws.com and cdk-assets-123456789012-eu-west-1.
const regionPattern = new RegExp(`(?<![a-z0-9])(${names.join('|')})[a-z]?(?![a-z0-9])`, 'gi');

/** Codes of the AWS regions that a text names, alone or within an ARN, a hostname, a zone or JSON. Each once. */
export function regionsIn(text: string): readonly string[] {
  // Nearly all texts end here, at a tenth of the pattern's price.
  if (!/-\d/.test(text)) return [];
  return [...new Set(Array.from(text.matchAll(regionPattern), ([, name = '']) => name.toLowerCase()))];
}

/** The region fields of the ARNs in a text, such as `eu-west-1`, `*` or a placeholder. Global services' are left out. */
export function arnRegionsIn(text: string): readonly string[] {
  const fields = text.matchAll(/\barn:(?:aws[a-z-]*|\*|‹[^›]*›):[a-z0-9*-]+:((?:‹[^›]*›|[^:\s"'])*):/gi);
  return Array.from(fields, ([, region = '']) => region).filter((region) => region !== '');
}
