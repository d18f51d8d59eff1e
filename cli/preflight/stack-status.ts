import { inProject } from '../pasted-command';

/** Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html */
const ready = new Set([
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE',
  'IMPORT_COMPLETE',
  'IMPORT_ROLLBACK_COMPLETE',
]);

/** CloudFormation takes an update now. */
export const isReady = (status: string): boolean => ready.has(status);

/** An update, a deployment or a rollback runs. */
export const isBusy = (status: string): boolean =>
  // A change set that was never executed has no stack behind it yet.
  status.endsWith('_IN_PROGRESS') && status !== 'REVIEW_IN_PROGRESS';

interface Stack {
  readonly name: string;
  readonly region: string;
  readonly status: string;
}

/** What makes a stack ready for updates that is neither ready nor busy. */
export function remedyFor({ name, region, status }: Stack): string {
  const command = (verb: string) => `aws cloudformation ${verb} --stack-name ${name} --region ${region}`;
  if (status === 'UPDATE_ROLLBACK_FAILED') {
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
    return `Remove the cause, then: ${command('continue-update-rollback')}. When the stack is UPDATE_ROLLBACK_COMPLETE, run this command again.`;
  }
  if (status === 'UPDATE_FAILED') {
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
    return `Undo the failed update: ${command('rollback-stack')}. When the stack is UPDATE_ROLLBACK_COMPLETE, run this command again.`;
  }
  return `Deploy the environment first: ${inProject(`npx cdk deploy ${name}`)}`;
}
