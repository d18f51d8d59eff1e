import type { ResourceChange } from '@aws-sdk/client-cloudformation';

/** Effects that may lose a resource's state, the worst first, and how a sentence says them. */
export const verbs = {
  deleted: 'would be removed from the stack and deleted',
  replaced: 'would be replaced',
  retained: 'would be removed from the stack and retained',
  'may be replaced': 'may be replaced',
  unknown: 'may be lost: CloudFormation decides later',
} as const;

/** `retained`: no longer managed by the stack. */
export type Effect = keyof typeof verbs | 'changed' | 'added';
/** The worst first. */
export const effects = [...Object.keys(verbs), 'changed', 'added'] as readonly Effect[];
export const isHarmful = (effect: Effect): effect is keyof typeof verbs => effect in verbs;

/** What a change of a change set does: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html */
export function effectOf({ Action, Replacement, PolicyAction }: ResourceChange): Effect {
  if (Action === 'Add') return 'added';
  if (Action === 'Remove') return PolicyAction === 'Retain' ? 'retained' : 'deleted';
  if (Action !== 'Modify') return 'unknown';
  if (Replacement === 'True') return 'replaced';
  return Replacement === 'Conditional' ? 'may be replaced' : 'changed';
}
