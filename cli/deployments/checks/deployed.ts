import { EC2 } from '@aws-sdk/client-ec2';
import { Lambda } from '@aws-sdk/client-lambda';
import { callAws, clientSettings } from '../../shell/aws';
import { type Check, existing, failed, warning } from './check';

export const deployedChecks: readonly Check[] = [
  {
    id: 'stack-state',
    async run({ stack, deployed }) {
      const { status = '' } = (await deployed) ?? {};
      if (status === '') return 'not deployed yet';
      const remedy = stateRemedies.find(([pattern]) => pattern.test(status))?.[1];
      return remedy
        ? failed(status, remedy.replace('STACK', `--stack-name ${stack.name} --region ${stack.region}`))
        : status;
    },
  },
  {
    // Closed for a restore or a promotion. No deployment opens it: the templates reserve nothing.
    id: 'deletions',
    async run({ stack: { region }, deployed }) {
      const { resources = [] } = (await deployed) ?? {};
      const isOfDeletions = /^DeleteUserGroup[0-9A-F]{8}$/;
      const FunctionName = resources.find(
        ({ type, logicalId }) => type === 'AWS::Lambda::Function' && isOfDeletions.test(logicalId),
      )?.physicalId;
      if (FunctionName === undefined) return 'no function that deletes';
      const lambda = new Lambda(clientSettings(region));
      const reserved = await callAws(lambda, 'getFunctionConcurrency', { FunctionName });
      if (reserved.ReservedConcurrentExecutions !== 0) return `${FunctionName} runs`;
      return warning(
        `${FunctionName} has a reserved concurrency of 0: deletions return 500`,
        `Unless a restore or a promotion keeps it closed: aws lambda delete-function-concurrency --region ${region} --function-name ${FunctionName}`,
      );
    },
  },
  {
    id: 'adopted-address',
    async run(context) {
      const { stack } = context;
      const { stackId, adoptedElasticIp, webhookOrigin, standby } = context.environment;
      const adopted = (
        stack.name === stackId
          ? [adoptedElasticIp, webhookOrigin?.adoptedReserve]
          : [standby?.adoptedElasticIp]
      ).filter((address) => address !== undefined);
      if (adopted.length === 0) return 'no adopted addresses';
      const ec2 = new EC2(clientSettings(stack.region));
      const AllocationIds = adopted.map(({ allocationId }) => allocationId);
      const Filters = [{ Name: 'allocation-id', Values: AllocationIds }];
      const { Addresses = [] } = await callAws(ec2, 'describeAddresses', { Filters });
      const [own] = await existing(context, 'AWS::EC2::NatGateway');
      const { NatGateways } =
        own === undefined ? {} : await callAws(ec2, 'describeNatGateways', { NatGatewayIds: [own] });
      const held = NatGateways?.[0]?.NatGatewayAddresses ?? [];
      for (const { allocationId, address } of adopted) {
        const current = Addresses.find(({ AllocationId }) => AllocationId === allocationId);
        if (current?.PublicIp !== address)
          return failed(
            `${allocationId} is ${current?.PublicIp ?? `not in ${stack.region}`}, but the environment expects ${address}`,
            'Correct the address in lib/environments.ts: receivers rely on it.',
          );
        // An Elastic IP cannot be on two gateways.
        if (current.AssociationId && !held.some(({ AllocationId }) => AllocationId === allocationId))
          return failed(
            `${address} (${allocationId}) is on ${current.NetworkInterfaceId}, not on the stack's gateway`,
            'Disassociate it, and never release it: "Keeping the address" in docs/runbook/planned-work.md.',
          );
      }
      return `${AllocationIds.join(', ')}: unassociated, or on the stack's gateway`;
    },
  },
];

/**
 * Statuses that block a deployment. `cdk deploy` itself handles the others.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
 */
const stateRemedies: readonly (readonly [RegExp, string])[] = [
  [
    /^REVIEW_IN_PROGRESS$/,
    'Delete its change set, which was never executed: aws cloudformation delete-stack STACK',
  ],
  [/_IN_PROGRESS$/, 'Wait until CloudFormation has finished.'],
  [
    /^(CREATE_FAILED|ROLLBACK_)/,
    'See "Recovering from a failed first deployment" in docs/runbook/planned-work.md.',
  ],
  [/^DELETE_FAILED$/, 'See "Deleting a stack with an SLA" in docs/runbook/planned-work.md.'],
  [/^UPDATE_ROLLBACK_FAILED$/, 'Fix the cause, then: aws cloudformation continue-update-rollback STACK'],
  [/^UPDATE_FAILED$/, 'Undo the failed update: aws cloudformation rollback-stack STACK'],
];
