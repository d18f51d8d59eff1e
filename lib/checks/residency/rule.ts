import type { LocatedValue } from './located-values';
import type { Resource, Template } from './template';

/** Something that may not be in a template. */
export interface Finding {
  /** Absent when it concerns the stack rather than one of its resources. */
  readonly logicalId?: string;
  /** Where it stands in the resource, or in the template. */
  readonly location: string;
  /** What stands there. */
  readonly value: unknown;
}

/** One of the things that could take data out of an environment's regions, or let the internet in. */
export interface Rule {
  readonly id: string;
  /** What is wrong; location and value follow. */
  readonly refuses: string;
  /** What to do instead, as a sentence. */
  readonly remedy: string;
  readonly find: (template: Template) => Iterable<Finding>;
}

export const findingAt = ({ logicalId }: Resource, { location, value }: LocatedValue): Finding => ({
  logicalId,
  location,
  value,
});

/** A resource that may not be there at all. */
export const findingOf = ({ logicalId, type }: Resource): Finding => ({
  logicalId,
  location: 'Type',
  value: type,
});
