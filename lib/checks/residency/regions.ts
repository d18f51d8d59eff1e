import { RegionInfo } from 'aws-cdk-lib/region-info';
import { isObject } from '../../../domain/strict-json';
import { type BoundedTemplate, type Finding, intrinsicOf, possibleTexts, type Rule } from './template';

/**
 * A region outside the environment's list, anywhere in a resource or an output: in ARNs, service principals,
 * hostnames, zones, environment variables, JSON.
 */
export const foreignRegion: Rule = {
  id: 'foreign-region',
  refuses: "Names a region outside of the environment's list, every region, or one that a parameter decides",
  remedy: 'Use what is in residencyRegions of the row in lib/environments.ts, and name its region.',
  find: (template) =>
    [
      ...template.resources.map(({ root }) => root),
      { location: 'Outputs', value: template.document.Outputs },
    ].flatMap((root) => foreignRegions(root, template.boundary.residencyRegions, template)),
};

/** True if a value contains no region but the stack's, and no ARN whose region is known only at deployment. */
export const staysInRegion = (value: unknown, template: BoundedTemplate): boolean =>
  foreignRegions({ location: '', value }, [template.boundary.region], template).length === 0;

/** Descriptions and tags send no data. Environment variables with such names may. */
const isProse = (name: string, location: string) =>
  /description$|^tags$/i.test(name) && !location.endsWith('.Variables');

/** Forbidden regions in a value, at any depth, each as `region in text`. */
function foreignRegions(
  found: Finding,
  allowed: readonly string[],
  template: BoundedTemplate,
): readonly Finding[] {
  const { location, value } = found;
  const namedIn = (text: string, location: string): Finding[] =>
    [...new Set(regionsIn(text))]
      .filter((region) => !allowed.includes(region))
      .map((region) => ({ ...found, location, value: `${region} in ${text}` }));
  if (typeof value === 'string' || intrinsicOf(value).name !== undefined) {
    return possibleTexts(value, template).flatMap((text) => namedIn(text, location));
  }
  // A policy statement that denies may name any region.
  if (typeof value !== 'object' || value === null || (isObject(value) && value.Effect === 'Deny')) return [];
  return Object.entries(value)
    .filter(([name]) => !isProse(name, location))
    .flatMap(([name, item]) => {
      const entry = { ...found, location: `${location}.${name}`, value: item };
      return [...namedIn(name, entry.location), ...foreignRegions(entry, allowed, template)];
    });
}

// A letter or digit before the code makes it part of another word; a letter after it names an availability zone. Hyphens may surround it:
// s3-eu-west-1.amazonaws.com, cdk-assets-123456789012-eu-west-1.
const regionPattern = new RegExp(
  `(?<![a-z0-9])(${RegionInfo.regions.map(({ name }) => name).join('|')})[a-z]?(?![a-z0-9])`,
  'gi',
);

/** The region field of an ARN, such as `eu-west-1`, `*` or a placeholder. Global services have none. */
const arnPattern = /\barn:(?:aws[a-z-]*|\*|‹[^›]*›):[a-z0-9*-]+:((?:‹[^›]*›|[^:\s"'])*):/gi;

function regionsIn(text: string): readonly string[] {
  // Most texts have neither, and the region pattern is ten times slower.
  const named = /-\d/.test(text)
    ? Array.from(text.matchAll(regionPattern), ([, region = '']) => region.toLowerCase())
    : [];
  const ofArns = Array.from(text.matchAll(arnPattern), ([, region = '']) => region);
  // A value of the template itself is in the stack's region; a parameter may be any.
  const isKnown = (region: string) => !region.includes('‹') || region.includes('‹parameter ');
  return [...named, ...ofArns.filter((region) => region !== '' && isKnown(region))];
}
