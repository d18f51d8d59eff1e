import { RegionInfo } from 'aws-cdk-lib/region-info';
import { isObject, type LocatedValue, type Rule, rootOf, type Template } from './template';
import { intrinsicOf, possibleTexts } from './texts';

/**
 * A region outside of the environment's list, anywhere in a resource or an output: in ARNs, service principals,
 * hostnames, zones, environment variables, JSON.
 */
export const foreignRegion: Rule = {
  id: 'foreign-region',
  refuses: "Names a region outside of the environment's list, every region, or one that a parameter decides",
  remedy: 'Use what is in residencyRegions of the row in lib/environments.ts, and name its region.',
  *find(template) {
    const { residencyRegions } = template.boundary;
    for (const resource of template.resources) {
      const { logicalId } = resource;
      for (const place of regionsNamed(rootOf(resource), residencyRegions, template)) {
        yield { ...place, logicalId };
      }
    }
    yield* regionsNamed(
      { location: 'Outputs', value: template.document.Outputs },
      residencyRegions,
      template,
    );
  },
};

/** Names no region but the stack's own, and no ARN whose region is known only when the stack is deployed. */
export const staysInRegion = (value: unknown, template: Template): boolean =>
  regionsNamed({ location: '', value }, [template.boundary.region], template).next().done === true;

/** Prose and labels: nothing is sent to a region because a description or a tag mentions it. A variable may be both. */
const isProse = (name: string, location: string) =>
  /description$|^tags$/i.test(name) && !location.endsWith('.Variables');

/** The regions that a value names, at any depth, without those that are allowed: each as `region in text`. */
function* regionsNamed(
  { location, value }: LocatedValue,
  allowed: readonly string[],
  template: Template,
): Generator<LocatedValue> {
  if (typeof value === 'string' || intrinsicOf(value) !== undefined) {
    for (const text of possibleTexts(value, template)) {
      for (const region of regionsOutside(text, allowed)) yield { location, value: `${region} in ${text}` };
    }
    // A policy statement that denies may name any region.
  } else if (typeof value === 'object' && value !== null && !(isObject(value) && value.Effect === 'Deny')) {
    for (const [name, item] of Object.entries(value)) {
      if (isProse(name, location)) continue;
      const place = { location: `${location}.${name}`, value: item };
      for (const region of regionsOutside(name, allowed))
        yield { location: place.location, value: `${region} in ${name}` };
      yield* regionsNamed(place, allowed, template);
    }
  }
}

function regionsOutside(text: string, allowed: readonly string[]): readonly string[] {
  const named = [...regionsIn(text), ...arnRegionsIn(text)];
  return [...new Set(named)].filter((region) => !allowed.includes(region));
}

// A letter or digit before it is another word; a letter after it is an availability zone; hyphens are both around a
// region in names such as s3-eu-west-1.amazonaws.com and cdk-assets-123456789012-eu-west-1.
const regionPattern = new RegExp(
  `(?<![a-z0-9])(${RegionInfo.regions.map(({ name }) => name).join('|')})[a-z]?(?![a-z0-9])`,
  'gi',
);

function regionsIn(text: string): readonly string[] {
  // Nearly all texts end here, at a tenth of the pattern's price.
  if (!/-\d/.test(text)) return [];
  return Array.from(text.matchAll(regionPattern), ([, name = '']) => name.toLowerCase());
}

/**
 * The region fields of the ARNs in a text, such as `eu-west-1`, `*` or a parameter's placeholder. Global services have none, and a
 * value of the template itself is in the stack's region.
 */
function arnRegionsIn(text: string): readonly string[] {
  const fields = text.matchAll(/\barn:(?:aws[a-z-]*|\*|‹[^›]*›):[a-z0-9*-]+:((?:‹[^›]*›|[^:\s"'])*):/gi);
  return Array.from(fields, ([, region = '']) => region).filter(
    (region) => region !== '' && (!region.includes('‹') || region.includes('‹parameter ')),
  );
}
