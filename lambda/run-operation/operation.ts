import type { Database } from '../database/database';
import type { Result } from '../shared/result';
import { type Input, type OperationError, readInput, type Shape } from './request';

/** What operations work on. */
export interface Ports {
  readonly database: Database;
  /** The environment's name, for messages. */
  readonly environment: string;
  /** Whether webhooks may go to this very machine: see `localReceiversVariable`. @default false */
  readonly localReceivers?: boolean;
}

/** Something that an operator does to a region: checks its input, then does it. The answer is JSON. */
export type Operation = (input: unknown, ports: Ports) => Promise<Result<unknown, OperationError>>;

/** An operation whose input has the given shape; any other input is refused as `input_invalid`. */
export function operation<const S extends Shape>(
  shape: S,
  run: (input: Input<S>, ports: Ports) => Promise<Result<unknown, OperationError>>,
): Operation {
  return async (input, ports) => {
    const read = readInput(shape, input);
    return read.ok ? run(read.value, ports) : read;
  };
}
