import type { Environment } from './environment';

/** What a field of an environment must be like. */
export interface Rule {
  /** Path of the field, such as `database.capacity.minimum`. */
  readonly field: string;
  /** True when the value may stay. Fields of earlier rules are known to hold. */
  readonly holds: (value: unknown, environment: Environment) => boolean;
  /** What to do about a value that may not stay, as a sentence. */
  readonly remedy: string;
  /** The field may be left out. */
  readonly optional?: boolean;
  /** The object that the field belongs to may be left out. */
  readonly parentOptional?: boolean;
}
