/** What a stack's status means to someone who wants to update it. */
export type StackReadiness =
  | { readonly kind: 'ready' }
  /** An update, a deployment or a rollback runs. */
  | { readonly kind: 'busy' }
  /** CloudFormation refuses updates until someone does what the remedy says. */
  | { readonly kind: 'stuck'; readonly remedy: string };

/** Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html */
const ready = new Set([
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE',
  'IMPORT_COMPLETE',
  'IMPORT_ROLLBACK_COMPLETE',
]);

interface StackPlace {
  readonly name: string;
  readonly region: string;
}

export function stackReadiness(status: string, stack: StackPlace): StackReadiness {
  if (ready.has(status)) return { kind: 'ready' };
  // A change set that was never executed: there is no stack behind it yet.
  if (status.endsWith('_IN_PROGRESS') && status !== 'REVIEW_IN_PROGRESS') return { kind: 'busy' };
  return { kind: 'stuck', remedy: remedyFor(status, stack) };
}

/** An update of the stack has come to its end: for good or not, nothing more happens by itself. */
export const isFinal = (status: string): boolean => !status.endsWith('_IN_PROGRESS');

function remedyFor(status: string, { name, region }: StackPlace): string {
  const command = (verb: string) => `aws cloudformation ${verb} --stack-name ${name} --region ${region}`;
  if (status === 'UPDATE_ROLLBACK_FAILED') {
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
    return `Remove the cause, then: ${command('continue-update-rollback')}. When the stack is UPDATE_ROLLBACK_COMPLETE, run this command again.`;
  }
  if (status === 'UPDATE_FAILED') {
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
    return `Undo the failed update: ${command('rollback-stack')}. When the stack is UPDATE_ROLLBACK_COMPLETE, run this command again.`;
  }
  return `Deploy the environment first: npx cdk deploy ${name}.`;
}
