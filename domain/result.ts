/** The outcome of an operation with expected failures. Exceptions are for bugs. */
export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): Result<T, never> => ({ ok: true, value });

export const fail = <E>(error: E): Result<never, E> => ({ ok: false, error });

/** A service that may answer later, such as a database or a queue. */
export interface Unavailable<Kind extends string> {
  readonly kind: Kind;
  /** What happened, without values: the log gets it. */
  readonly reason: string;
}
