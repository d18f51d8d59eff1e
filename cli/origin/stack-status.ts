import { inProject } from '../pasted-command';
import type { OriginStack } from './stack';

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

/** An update of the stack has come to its end: for good or not, nothing more happens by itself. */
export const isFinal = (status: string): boolean => !status.endsWith('_IN_PROGRESS');

const command = ({ name, region }: Pick<OriginStack, 'name' | 'region'>, verb: string): string =>
  `aws cloudformation ${verb} --stack-name ${name} --region ${region}`;

/** Gives up an update that is `UPDATE_IN_PROGRESS`, and no other. */
export const cancelCommand = (stack: Pick<OriginStack, 'name' | 'region'>): string =>
  command(stack, 'cancel-update-stack');

/** What makes a stack ready for updates that is neither ready nor busy. */
export function remedyFor(stack: Pick<OriginStack, 'name' | 'region' | 'status'>): string {
  const { name, status } = stack;
  if (status === 'UPDATE_ROLLBACK_FAILED') {
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
    return `Remove the cause, then: ${command(stack, 'continue-update-rollback')}. When the stack is UPDATE_ROLLBACK_COMPLETE, run this command again.`;
  }
  if (status === 'UPDATE_FAILED') {
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
    return `Undo the failed update: ${command(stack, 'rollback-stack')}. When the stack is UPDATE_ROLLBACK_COMPLETE, run this command again.`;
  }
  return `Deploy the environment first: ${inProject(`npx cdk deploy ${name}`)}`;
}
