import { rootOf } from '../located-values';
import { regionsNamed } from '../region-scan';
import type { Finding, Rule } from '../rule';
import { objectAt, type Resource, type Template } from '../template';

/**
 * A region outside of the environment's list, anywhere in a resource or an output: in ARNs, service principals,
 * hostnames, zones, environment variables, custom resources, JSON.
 */
export const foreignRegion: Rule = {
  id: 'foreign-region',
  refuses: "Names a region outside of the environment's list, every region, or one that a parameter decides",
  remedy: 'Use what is in residencyRegions of the row in lib/environments.ts, and name its region.',
  *find(template) {
    for (const resource of template.resources) {
      if (isAboutCheckers(resource)) continue;
      yield* foreignIn(rootOf(resource), template, resource.logicalId);
    }
    const outputs = objectAt(template.document, 'Outputs');
    for (const [name, output] of Object.entries(outputs)) {
      yield* foreignIn({ location: `Outputs.${name}`, value: output }, template);
    }
  },
};

// Route 53 is a global service. A health check's regions are where its checkers stand, which send and get no data.
const isAboutCheckers = ({ type }: Resource) => type === 'AWS::Route53::HealthCheck';

function* foreignIn(
  place: { readonly location: string; readonly value: unknown },
  template: Template,
  logicalId?: string,
): Generator<Finding> {
  const named = regionsNamed(place, template.boundary.residencyRegions, template);
  for (const { location, text, region } of named) {
    yield { ...(logicalId !== undefined && { logicalId }), location, value: `${region} in ${text}` };
  }
}
