import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../assembly/manifest';
import type { AccessControl } from '../iam/access';
import type { QueueServer } from '../queues/queues';
import type { DeployedStack } from '../resources/deployment';
import { eventSourceMapping } from '../resources/event-source-mapping';
import type { StackFunctions } from '../resources/function';
import { startEventSource } from './event-sources';

export interface TriggersOptions {
  readonly stack: Pick<Stack, 'name' | 'region'>;
  readonly deployed: DeployedStack;
  readonly functions: Pick<StackFunctions, 'find' | 'identityOf'>;
  readonly access: Pick<AccessControl, 'authorizeRole' | 'authorizeService'>;
  readonly queues: QueueServer;
  /** Gets a line when a queue cannot be read or written. */
  readonly onProblem: (line: string) => void;
}

export interface Triggers {
  /** Starts no further invocation, and gives the running ones a second to end. */
  stop(): Promise<void>;
}

/** Milliseconds that invocations from queues have to end, as the API's running requests have. */
const stopGraceMs = 1_000;

/** Starts what invokes functions beside the API: event sources. Rules run at AWS only. */
export function startTriggers(options: TriggersOptions): Triggers {
  checkRules(options);
  const sources = startEventSources(options);
  return {
    async stop() {
      const stopped = Promise.all(sources.map((source) => source.stop()));
      await Promise.race([stopped, sleep(stopGraceMs, undefined, { ref: false })]);
    },
  };
}

function startEventSources(options: TriggersOptions) {
  const { stack, functions, queues, onProblem } = options;
  const mappings = resourcesOfType(options, 'AWS::Lambda::EventSourceMapping')
    .map(({ logicalId, properties }) => eventSourceMapping(stack.name, logicalId, properties))
    .filter(({ enabled }) => enabled)
    .map((mapping) => ({
      ...mapping,
      target: functions.find(mapping.functionName),
      accessKeyId: readerOf(mapping, options),
    }));
  return mappings.map(({ target, ...settings }) =>
    startEventSource({
      ...settings,
      endpoint: queues.url,
      queueUrl: queues.urlOf(settings.queueArn),
      region: stack.region,
      invoke: (event) => target.invoke(event),
      onProblem,
    }),
  );
}

/**
 * The access key of the function that Lambda reads its queue for.
 *
 * @throws Error when its role may not; Lambda refuses such an event source, too:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-permissions
 */
function readerOf(
  { functionName, queueArn }: { readonly functionName: string; readonly queueArn: string },
  { stack, functions, access }: TriggersOptions,
): string {
  const { accessKeyId, role } = functions.identityOf(functionName);
  for (const action of role ? ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'] : []) {
    const refusal = access.authorizeRole(role ?? '', action, queueArn);
    if (refusal !== undefined) throw new Error(`${stack.name}, ${functionName}: ${refusal}`);
  }
  return accessKeyId;
}

/** @throws Error when EventBridge may not invoke a rule's function */
function checkRules(options: TriggersOptions): void {
  for (const { attributes, properties } of resourcesOfType(options, 'AWS::Events::Rule')) {
    for (const { Arn } of properties.Targets as readonly { readonly Arn: string }[]) {
      if (!Arn.startsWith('arn:aws:lambda:')) continue;
      const refusal = options.access.authorizeService('events.amazonaws.com', Arn, String(attributes.Arn));
      if (refusal !== undefined) throw new Error(`${options.stack.name}: ${refusal}`);
    }
  }
}

function resourcesOfType({ deployed }: TriggersOptions, ofType: string) {
  return [...deployed.resources.values()].filter(({ type }) => type === ofType);
}
