import type { Change, ResourceChange } from '@aws-sdk/client-cloudformation';
import { statefulTypes } from '../../lib/checks/stateful-types';

/** The stack as it was when the plan was made; null: it was not there. */
export interface Base {
  readonly id: string;
  /** When the stack was last changed, ISO 8601. */
  readonly changed: string;
}

export interface Plan {
  readonly stack: string;
  readonly region: string;
  readonly base: Base | null;
  readonly changes: readonly PlannedChange[];
}

/** What CloudFormation would do to one resource. */
export interface PlannedChange {
  readonly logicalId: string;
  readonly type: string;
  readonly effect: Effect;
  /** What changes, a line each. */
  readonly details: readonly string[];
  /** What it would cost and what to do instead, for what holds state and would not stay as it is. */
  readonly warning: string | undefined;
}

/**
 * `unknown` is what CloudFormation cannot tell before it does it; `left behind` stays in the account and is the stack's
 * no more.
 */
export type Effect =
  | 'added'
  | 'changed'
  | 'replaced'
  | 'perhaps replaced'
  | 'deleted'
  | 'left behind'
  | 'imported'
  | 'unknown';

const harmless: readonly Effect[] = ['added', 'changed', 'imported'];

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html */
export function readChanges(changes: readonly Change[]): readonly PlannedChange[] {
  return changes.flatMap(({ ResourceChange: change }) => (change ? [readChange(change)] : []));
}

/** The changes of a stack that is not there yet, from its template. */
export const additionsOf = (template: {
  readonly Resources: Readonly<Record<string, { readonly Type: string }>>;
}): readonly PlannedChange[] =>
  Object.entries(template.Resources).map(([logicalId, { Type }]) => ({
    logicalId,
    type: Type,
    effect: 'added',
    details: [],
    warning: undefined,
  }));

function readChange(change: ResourceChange): PlannedChange {
  const { LogicalResourceId: logicalId = '', ResourceType: type = '' } = change;
  const effect = effectOf(change);
  const state = statefulTypes[type];
  return {
    logicalId,
    type,
    effect,
    details: [...new Set((change.Details ?? []).map(describeDetail))],
    warning: state && !harmless.includes(effect) ? state.remedy : undefined,
  };
}

function effectOf({ Action, Replacement, PolicyAction }: ResourceChange): Effect {
  if (Action === 'Add') return 'added';
  if (Action === 'Import') return 'imported';
  if (Action === 'Remove') return PolicyAction === 'Retain' ? 'left behind' : 'deleted';
  if (Action !== 'Modify') return 'unknown';
  if (Replacement === 'True') return 'replaced';
  return Replacement === 'Conditional' ? 'perhaps replaced' : 'changed';
}

function describeDetail({ Target, CausingEntity }: NonNullable<ResourceChange['Details']>[number]): string {
  const { Attribute, Name, Path, BeforeValue, AfterValue, RequiresRecreation } = Target ?? {};
  const place = Path ?? [Attribute, Name].filter(Boolean).join('/');
  const values =
    BeforeValue === undefined && AfterValue === undefined
      ? ''
      : `: ${shown(BeforeValue)} → ${shown(AfterValue)}`;
  const cause = CausingEntity ? `, by ${CausingEntity}` : '';
  const recreation = RequiresRecreation && RequiresRecreation !== 'Never' ? ', which replaces it' : '';
  return `${place}${values}${cause}${recreation}`;
}

/** Longest value that is shown whole. */
const longestValue = 80;

const shown = (value: string | undefined): string =>
  value === undefined ? 'nothing' : value.length > longestValue ? `${value.slice(0, longestValue)}…` : value;
