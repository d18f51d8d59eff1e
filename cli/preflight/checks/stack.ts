import { inProject } from '../../pasted-command';
import { CallFailed } from '../call';
import { type Check, failed, ok } from '../check';
import { isBusy, isReady, remedyFor } from '../stack-status';

/**
 * The stack reads its parameter at each deployment, and so does the CDK's command line; a bootstrap stack of another
 * name writes it too. https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
 */
const bootstrap: Check = {
  id: 'bootstrap',
  title: "CDK's bootstrap stack",
  scope: 'stack',
  async ask({ stack, account = 'ACCOUNT', clientSettings, call }) {
    const { version: needed, parameter: Name } = stack.bootstrap;
    const remedy = `Bootstrap the region: ${inProject(`npx cdk bootstrap aws://${account}/${stack.region}`)}`;
    const { GetParameterCommand, SSMClient } = await import('@aws-sdk/client-ssm');
    const client = new SSMClient(clientSettings);
    try {
      const { Parameter } = await call('ssm:GetParameter', (options) =>
        client.send(new GetParameterCommand({ Name }), options),
      );
      const version = Number(Parameter?.Value);
      return version >= needed
        ? ok(`version ${version}, at least ${needed} is needed`)
        : failed(`version ${Parameter?.Value}, at least ${needed} is needed`, remedy);
    } catch (error) {
      if (!(error instanceof CallFailed) || error.errorName !== 'ParameterNotFound') throw error;
      return failed(`${stack.region} has none: no parameter ${Name}`, remedy);
    }
  },
};

const state: Check = {
  id: 'stack-state',
  title: "stack's state",
  scope: 'stack',
  async ask({ stack, deployedStatus }) {
    const status = await deployedStatus();
    if (status === undefined) return ok('there is none yet');
    const neverMade = remedyOfNeverMade(status, stack);
    if (neverMade) return failed(status, neverMade);
    if (isReady(status)) return ok(status);
    const wait = 'Wait until CloudFormation is done with it, then run this command again.';
    return failed(status, isBusy(status) ? wait : remedyFor({ ...stack, status }));
  },
};

/**
 * A stack whose creation did not come to a good end takes no update: it has to go first.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
 */
function remedyOfNeverMade(
  status: string,
  { name, region }: { readonly name: string; readonly region: string },
): string | undefined {
  const of = `--stack-name ${name} --region ${region}`;
  const remove = `aws cloudformation delete-stack ${of}`;
  switch (status) {
    case 'REVIEW_IN_PROGRESS':
      return `A change set was never executed, and there is no stack behind it. Remove it: ${remove}`;
    case 'CREATE_FAILED':
    case 'ROLLBACK_COMPLETE':
    case 'ROLLBACK_FAILED':
      return `Remove what the failed creation left, see "Recovering from a failed first deployment" in docs/runbook.md. The stack itself: ${remove}`;
    case 'DELETE_FAILED':
      return `Remove what could not be deleted, see "Deleting a stack with an SLA" in docs/runbook.md, then: ${remove}`;
    default:
      return undefined;
  }
}

export const stackChecks: readonly Check[] = [bootstrap, state];
