import type { Environment } from '../../lib/environment/environment';
import type { StackResource } from '../stack-resources';
import type { ClientSettings } from '../target';
import type { PlannedStack } from './plan';

/** What a check found out. */
export type Answer =
  | { readonly outcome: 'ok'; readonly found: string }
  /** The deployment would fail. The remedy is a command where there is one. */
  | { readonly outcome: 'failed'; readonly found: string; readonly remedy: string }
  /** Worth knowing before the deployment; it may still work, and may be the repair. */
  | { readonly outcome: 'warning'; readonly found: string; readonly remedy: string }
  /** Nothing is known, neither good nor bad; `found` says why. */
  | { readonly outcome: 'not asked'; readonly found: string };

export const ok = (found: string): Answer => ({ outcome: 'ok', found });
export const failed = (found: string, remedy: string): Answer => ({ outcome: 'failed', found, remedy });
export const warning = (found: string, remedy: string): Answer => ({ outcome: 'warning', found, remedy });
export const notAsked = (found: string): Answer => ({ outcome: 'not asked', found });

/** One question to AWS before a deployment. It reads and never writes. */
export interface Check {
  /** For programs and for `--without`. */
  readonly id: string;
  /** For people. */
  readonly title: string;
  /** `account`: asked once; `stack`: asked for each stack, in its region. */
  readonly scope: 'account' | 'stack';
  /** When it fails, those after it in the list, of its account or stack, are not asked. @default false */
  readonly precondition?: boolean;
  /** Throws `CallFailed` for what could not be asked. */
  ask(context: Context): Promise<Answer>;
}

/** Makes one call, or reads all pages of one, within the check's deadline. */
export type CallAws = <T>(
  /** The permission that it needs, such as `kms:ListKeys`. */
  action: string,
  send: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
) => Promise<T>;

/** What a check knows of the stack that is to be deployed. */
export interface Context {
  readonly environment: Environment;
  /** The AWS account that the deployer's variables give. @default - that of the credentials */
  readonly account: string | undefined;
  readonly stack: PlannedStack;
  readonly clientSettings: ClientSettings;
  readonly call: CallAws;
  /** The status of the stack that is deployed; undefined when there is none. */
  deployedStatus(): Promise<string | undefined>;
  /** The resources of the stack that is deployed; none when there is none. */
  deployedResources(): Promise<readonly StackResource[]>;
}
