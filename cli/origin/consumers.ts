import { callAws } from '../aws';
import type { StackResource } from '../stack-resources';
import type { OriginApis } from './apis';

/** A function that takes messages off a queue. */
export interface Consumer {
  readonly functionName: string;
  readonly queueName: string;
  /** Lambda's: `Enabled`, `Disabled`, or on its way to one of them. */
  readonly state: string;
}

/** The event source mappings of the stack. Those that need the webhook origin are off while no gateway holds it. */
export async function readConsumers(
  { target, lambda }: OriginApis,
  resources: readonly StackResource[],
): Promise<readonly Consumer[]> {
  const { GetEventSourceMappingCommand } = await import('@aws-sdk/client-lambda');
  const mappings = resources.filter(({ type }) => type === 'AWS::Lambda::EventSourceMapping');
  return Promise.all(
    mappings.map(async ({ physicalId }) => {
      const mapping = await callAws(target, 'lambda:GetEventSourceMapping', (options) =>
        lambda.send(new GetEventSourceMappingCommand({ UUID: physicalId }), options),
      );
      return {
        functionName: lastPart(mapping.FunctionArn),
        queueName: lastPart(mapping.EventSourceArn),
        state: mapping.State ?? '',
      };
    }),
  );
}

const lastPart = (arn: string | undefined): string => arn?.split(':').at(-1) ?? '';
