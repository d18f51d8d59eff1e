import type { StackEvent } from '@aws-sdk/client-cloudformation';
import { callAws } from '../aws';
import type { OriginApis } from './apis';
import type { OriginStack } from './stack';

/** One step of a stack's update, of the stack itself or of a resource. */
export interface UpdateEvent {
  readonly id: string;
  readonly time: Date;
  readonly logicalId: string;
  /** Of the resource, such as `AWS::EC2::Route`. */
  readonly type: string;
  readonly status: string;
  readonly reason: string | undefined;
  /** Whether it is of the stack itself. */
  readonly ofStack: boolean;
  readonly token: string | undefined;
}

/** The latest event of the stack itself: what runs or ran last, and whose it is. */
export async function latestOperation(
  apis: OriginApis,
  stack: OriginStack,
): Promise<UpdateEvent | undefined> {
  for await (const event of eventsBackwards(apis, stack)) if (event.ofStack) return event;
  return undefined;
}

/** The events of the update with that token, the first first. Empty while CloudFormation shows none. */
export async function eventsOf(
  apis: OriginApis,
  stack: OriginStack,
  token: string | undefined,
): Promise<readonly UpdateEvent[]> {
  const events: UpdateEvent[] = [];
  for await (const event of eventsBackwards(apis, stack)) {
    if (event.token === token) {
      events.unshift(event);
      if (event.ofStack && event.status === 'UPDATE_IN_PROGRESS') break;
    } else if (event.ofStack && events.length > 0) break;
  }
  return events;
}

async function* eventsBackwards(
  { cloudFormation, target }: OriginApis,
  stack: OriginStack,
): AsyncGenerator<UpdateEvent> {
  const { DescribeStackEventsCommand } = await import('@aws-sdk/client-cloudformation');
  let nextToken: string | undefined;
  do {
    const request = new DescribeStackEventsCommand({ StackName: stack.id, NextToken: nextToken });
    const page = await callAws(target, 'cloudformation:DescribeStackEvents', (options) =>
      cloudFormation.send(request, options),
    );
    for (const event of page.StackEvents ?? []) yield readEvent(event);
    nextToken = page.NextToken;
  } while (nextToken);
}

function readEvent(event: StackEvent): UpdateEvent {
  return {
    id: event.EventId ?? '',
    time: event.Timestamp ?? new Date(0),
    logicalId: event.LogicalResourceId ?? '',
    type: event.ResourceType ?? '',
    status: event.ResourceStatus ?? '',
    reason: event.ResourceStatusReason,
    ofStack: event.PhysicalResourceId === event.StackId,
    token: event.ClientRequestToken,
  };
}
