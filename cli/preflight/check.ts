import type { environments } from '../../lib/environments';
import type { AssembledStack } from '../assembly';
import type { StackResource } from '../deployed-stack';
import type { ClientSettings } from '../target';

/** What a check found out. The remedy is a command where there is one. */
export type Answer =
  | { readonly outcome: 'ok'; readonly found: string }
  /** The deployment may work all the same, and may be the repair. */
  | { readonly outcome: 'warning'; readonly found: string; readonly remedy: string }
  /** The deployment would fail. */
  | { readonly outcome: 'failed'; readonly found: string; readonly remedy: string }
  /** Nothing is known, neither good nor bad. */
  | { readonly outcome: 'not asked'; readonly found: string; readonly remedy?: string };

export const ok = (found: string): Answer => ({ outcome: 'ok', found });
export const warning = (found: string, remedy: string): Answer => ({ outcome: 'warning', found, remedy });
export const failed = (found: string, remedy: string): Answer => ({ outcome: 'failed', found, remedy });
export const notAsked = (found: string, remedy?: string): Answer => ({
  outcome: 'not asked',
  found,
  ...(remedy && { remedy }),
});

/** One question to AWS before a deployment. It reads and never writes. */
export interface Check {
  /** For programs. */
  readonly id: string;
  readonly title: string;
  /** @throws AwsCallFailed for what AWS does not answer */
  ask(context: Context): Answer | Promise<Answer>;
}

export interface Context {
  readonly environment: (typeof environments)[number];
  /** Whose credentials they are. */
  readonly caller: { readonly account: string; readonly arn: string };
  /** As it would be deployed. */
  readonly stack: AssembledStack;
  readonly zones: readonly string[];
  readonly settings: ClientSettings;
  /** @param action the permission that the call needs. @throws AwsCallFailed */
  call<T>(action: string, send: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T>;
  /** What is deployed under the stack's name, asked once; undefined when there is none. */
  deployed(): Promise<{ readonly status: string; readonly resources: readonly StackResource[] } | undefined>;
}
