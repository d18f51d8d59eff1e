import type { Environment } from './environment';

/** The values that a field of an environment may have. */
export interface Rule {
  /** Path of the field, such as `database.capacity.minimum`. */
  readonly field: string;
  /** Fields of earlier rules are already accepted. */
  readonly accepts: (value: unknown, environment: Environment) => boolean;
  /** What to write instead, as a sentence; a function of the row where what to write follows from other fields. */
  readonly remedy: string | ((environment: Environment) => string);
  /** Whether the field may be left out. @default false */
  readonly optional?: boolean;
}
