import { RegionInfo } from 'aws-cdk-lib/region-info';
import {
  intrinsicOf,
  isObject,
  type LocatedValue,
  possibleTexts,
  type Rule,
  rootOf,
  type Template,
} from './template';

/**
 * A region outside the environment's list, anywhere in a resource or an output: in ARNs, service principals,
 * hostnames, zones, environment variables, JSON.
 */
export const foreignRegion: Rule = {
  id: 'foreign-region',
  refuses: "Names a region outside of the environment's list, every region, or one that a parameter decides",
  remedy: 'Use what is in residencyRegions of the row in lib/environments.ts, and name its region.',
  *find(template) {
    const { residencyRegions } = template.boundary;
    for (const resource of template.resources) {
      for (const found of regionsNamed(rootOf(resource), residencyRegions, template)) {
        yield { ...found, logicalId: resource.logicalId };
      }
    }
    const outputs = { location: 'Outputs', value: template.document.Outputs };
    yield* regionsNamed(outputs, residencyRegions, template);
  },
};

/** True if a value contains no region but the stack's, and no ARN whose region is known only at deployment. */
export const staysInRegion = (value: unknown, template: Template): boolean =>
  regionsNamed({ location: '', value }, [template.boundary.region], template).next().done === true;

/** Descriptions and tags send no data. Environment variables of such names may. */
const isProse = (name: string, location: string) =>
  /description$|^tags$/i.test(name) && !location.endsWith('.Variables');

/** Forbidden regions in a value, at any depth, each as `region in text`. */
function* regionsNamed(
  { location, value }: LocatedValue,
  allowed: readonly string[],
  template: Template,
): Generator<LocatedValue> {
  const namedIn = (text: string, location: string): LocatedValue[] =>
    [...new Set(regionsIn(text))]
      .filter((region) => !allowed.includes(region))
      .map((region) => ({ location, value: `${region} in ${text}` }));
  if (typeof value === 'string' || intrinsicOf(value).name !== undefined) {
    yield* possibleTexts(value, template).flatMap((text) => namedIn(text, location));
    // A policy statement that denies may name any region.
  } else if (typeof value === 'object' && value !== null && !(isObject(value) && value.Effect === 'Deny')) {
    for (const [name, item] of Object.entries(value)) {
      if (isProse(name, location)) continue;
      const entry = { location: `${location}.${name}`, value: item };
      yield* namedIn(name, entry.location);
      yield* regionsNamed(entry, allowed, template);
    }
  }
}

// A letter or digit before it is another word; a letter after it is an availability zone; hyphens are both around a
// region in names such as s3-eu-west-1.amazonaws.com and cdk-assets-123456789012-eu-west-1.
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
