import type { Stack, StackResource } from './stack';
import type { Json } from './template';

/** A service's refusal, in its own words. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export type Answers = Readonly<Record<string, (input: Json, stack: Stack) => Json>>;

/** Names of statuses in which CloudFormation takes an update. */
const updatable = /^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT|IMPORT_ROLLBACK)_COMPLETE$/;
const pageSize = 100;

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_Operations.html */
export const cloudFormation: Answers = {
  DescribeStacks: ({ StackName }, stack) => {
    assertNamed(StackName, stack);
    return {
      Stacks: [
        {
          StackId: stack.id,
          StackName: stack.name,
          StackStatus: stack.status,
          Capabilities: stack.capabilities,
          Parameters: Object.entries(stack.parameters).map(([ParameterKey, ParameterValue]) => ({
            ParameterKey,
            ParameterValue,
          })),
          Outputs: Object.entries(stack.originOutputs).map(([OutputKey, OutputValue]) => ({
            OutputKey,
            OutputValue,
          })),
        },
      ],
    };
  },
  ListStackResources: ({ StackName, NextToken }, stack) => {
    assertNamed(StackName, stack);
    const [resources, next] = page([...stack.resources.values()], NextToken);
    return {
      StackResourceSummaries: resources.map((resource: StackResource) => ({
        LogicalResourceId: resource.logicalId,
        PhysicalResourceId: resource.physicalId,
        ResourceType: resource.type,
        ResourceStatus: resource.status,
      })),
      NextToken: next,
    };
  },
  DescribeStackEvents: ({ StackName, NextToken }, stack) => {
    assertNamed(StackName, stack);
    const [events, next] = page(stack.events, NextToken);
    return {
      StackEvents: events.map((event) => ({
        StackId: stack.id,
        StackName: stack.name,
        EventId: event.id,
        Timestamp: event.time,
        LogicalResourceId: event.logicalId,
        PhysicalResourceId: event.physicalId,
        ResourceType: event.type,
        ResourceStatus: event.status,
        ResourceStatusReason: event.reason,
        ClientRequestToken: event.token,
      })),
      NextToken: next,
    };
  },
  UpdateStack: (input, stack) => {
    assertNamed(input.StackName, stack);
    const parameters = readParameters(input, stack);
    const token: string | undefined = input.ClientRequestToken;
    const wanted = JSON.stringify(parameters);
    const taken = token && stack.tokens.get(token);
    if (taken === wanted) return { StackId: stack.id };
    if (taken) throw new Refusal('TokenAlreadyExistsException', 'A client request token already exists');
    if (!updatable.test(stack.status)) {
      throw new Refusal(
        'ValidationError',
        `Stack:${stack.id} is in ${stack.status} state and can not be updated.`,
      );
    }
    if (input.UsePreviousTemplate !== 'true') throw new Refusal('ValidationError', 'Template is missing');
    if (stack.template.needsIamCapability && !input.Capabilities?.includes('CAPABILITY_IAM')) {
      throw new Refusal('InsufficientCapabilitiesException', 'Requires capabilities : [CAPABILITY_IAM]');
    }
    if (wanted === JSON.stringify(stack.parameters)) {
      throw new Refusal('ValidationError', 'No updates are to be performed.');
    }
    if (token) stack.tokens.set(token, wanted);
    stack.begin(parameters, token);
    return { StackId: stack.id };
  },
  CancelUpdateStack: ({ StackName, ClientRequestToken }, stack) => {
    assertNamed(StackName, stack);
    if (stack.status !== 'UPDATE_IN_PROGRESS')
      throw new Refusal('ValidationError', 'CancelUpdateStack cannot be called from current stack status');
    stack.cancel(stack.rollbackHasOwnToken ? ClientRequestToken : undefined);
    return {};
  },
  ContinueUpdateRollback: ({ StackName, ResourcesToSkip = [], ClientRequestToken }, stack) => {
    assertNamed(StackName, stack);
    const rollback = stack.failedRollback;
    if (stack.status !== 'UPDATE_ROLLBACK_FAILED' || !rollback)
      throw new Refusal(
        'ValidationError',
        'ContinueUpdateRollback cannot be called from current stack status',
      );
    for (const name of ResourcesToSkip) {
      if (rollback.reverts.some(({ resource }) => resource.logicalId === name)) continue;
      throw new Refusal(
        'ValidationError',
        `Resource [${name}] is not in a failed state and cannot be skipped`,
      );
    }
    stack.continueRollback(rollback, ResourcesToSkip, ClientRequestToken);
    return {};
  },
};

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Operations.html */
export const ec2: Answers = {
  DescribeAddresses: ({ Filter }, { account }) => ({
    addressesSet: [...account.addresses.values()]
      .filter(({ address }) => Filter[0].Value.includes(address))
      .map(({ address, allocationId, heldBy }) => ({
        publicIp: address,
        allocationId,
        domain: 'vpc',
        ...(heldBy && { associationId: `eipassoc-${heldBy}`, networkInterfaceId: `eni-of-${heldBy}` }),
      })),
  }),
  DescribeNatGateways: ({ Filter }, { account }) => ({
    natGatewaySet: [...account.gateways.values()]
      .filter(({ id }) => Filter?.[0].Value.includes(id) ?? true)
      .map(({ id, state, subnetId, allocationId, tags }) => ({
        natGatewayId: id,
        state,
        subnetId,
        natGatewayAddressSet: [
          {
            allocationId,
            publicIp: account.addresses.get(allocationId)?.address,
            networkInterfaceId: `eni-of-${id}`,
            isPrimary: true,
          },
        ],
        tagSet: Object.entries(tags).map(([key, value]) => ({ key, value })),
      })),
  }),
  // A gateway that is being deleted, or was, is no error.
  DeleteNatGateway: ({ NatGatewayId }, { account }) => {
    const gateway = account.gateways.get(NatGatewayId);
    if (!gateway) {
      throw new Refusal('NatGatewayNotFound', `The Nat Gateway ${NatGatewayId} was not found`);
    }
    if (gateway.state !== 'deleted') gateway.state = 'deleting';
    return { natGatewayId: NatGatewayId };
  },
  DescribeSubnets: ({ Filter }, { account }) => ({
    subnetSet: [...account.subnets]
      .filter(([id]) => Filter[0].Value.includes(id))
      .map(([subnetId, availabilityZone]) => ({ subnetId, availabilityZone })),
  }),
};

/** Answers in JSON: of Lambda, by path; of SQS and CloudWatch, by action. */
export const json: Answers = {
  GetEventSourceMapping: ({ UUID }, { account }) => {
    const mapping = account.mappings.get(UUID);
    if (!mapping)
      throw new Refusal('ResourceNotFoundException', 'The resource you requested does not exist.');
    return {
      UUID,
      State: mapping.state,
      FunctionArn: `arn:aws:lambda:eu-central-1:000000000000:function:${mapping.functionName}`,
      EventSourceArn: `arn:aws:sqs:eu-central-1:000000000000:${mapping.queueName}`,
    };
  },
  GetQueueAttributes: ({ QueueUrl }, { account }) => ({
    Attributes: {
      ApproximateNumberOfMessages: String(account.queues.get(QueueUrl.split('/').at(-1))?.length ?? 0),
      ApproximateNumberOfMessagesNotVisible: '0',
      ApproximateNumberOfMessagesDelayed: '0',
    },
  }),
  GetMetricStatistics: ({ MetricName, Dimensions }, { account }) => {
    const waiting = account.queues.get(Dimensions[0].Value)?.length ?? 0;
    const minutesAgo = (minutes: number) => Date.now() / 1000 - minutes * 60;
    return {
      Label: MetricName,
      Datapoints: waiting
        ? [
            { Timestamp: minutesAgo(1), Maximum: 7_500, Unit: 'Seconds' },
            { Timestamp: minutesAgo(3), Maximum: 7_380, Unit: 'Seconds' },
          ]
        : [],
    };
  },
};

function assertNamed(name: string, stack: Stack): void {
  if (name === stack.name || name === stack.id) return;
  throw new Refusal('ValidationError', `Stack with id ${name} does not exist`);
}

/** A parameter that is left out goes back to its default. */
function readParameters({ Parameters = [] }: Json, stack: Stack): Record<string, string> {
  const declared = stack.template.parameters;
  const given = new Map<string, Json>(
    Parameters.map((parameter: Json) => [parameter.ParameterKey, parameter]),
  );
  for (const name of given.keys()) {
    if (declared[name]) continue;
    throw new Refusal('ValidationError', `Parameters: [${name}] do not exist in the template`);
  }
  return Object.fromEntries(
    Object.entries(declared).map(([name, { Default = '', AllowedValues }]) => {
      const parameter = given.get(name);
      const value =
        parameter?.UsePreviousValue === 'true' ? stack.parameters[name] : parameter?.ParameterValue;
      if (AllowedValues && value !== undefined && !AllowedValues.includes(value)) {
        throw new Refusal('ValidationError', `Parameter '${name}' must be one of AllowedValues`);
      }
      return [name, value ?? Default];
    }),
  );
}

function page<T>(
  all: readonly T[],
  token: string | undefined,
): [items: readonly T[], next: string | undefined] {
  const from = Number(token ?? 0);
  const next = from + pageSize;
  return [all.slice(from, next), next < all.length ? String(next) : undefined];
}
