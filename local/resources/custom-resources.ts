import { isDeepStrictEqual } from 'node:util';
import type { InvocationResult } from '../lambda/instance';
import { readJson, StartError, writeJson } from '../state';

/** A custom resource as the template asks for it. */
export interface CustomResourceRequest {
  readonly logicalId: string;
  /** `Custom::SchemaMigration` */
  readonly type: string;
  /** Resolved, without `ServiceToken`. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** Calls the handler behind the service token, as the CDK's provider framework calls `onEvent`. */
  invoke(event: object): Promise<InvocationResult>;
}

/** A custom resource as its handler left it. */
interface CustomResource {
  readonly physicalId: string;
  /** What `Fn::GetAtt` reads. */
  readonly data: Readonly<Record<string, unknown>>;
}

interface Kept extends CustomResource, Pick<CustomResourceRequest, 'type' | 'properties'> {}

export type ApplyCustomResource = (request: CustomResourceRequest) => Promise<CustomResource>;

/**
 * Applies the custom resources of one stack as CloudFormation does: creates one, updates it when its properties differ
 * from the last run's, or leaves it alone. One that vanishes from a template gets no Delete: its function has vanished
 * with it.
 *
 * Events: https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.custom_resources-readme.html
 *
 * @param file where their state is kept between runs
 * @returns what throws a StartError with the handler's reason; undoing what the handler did is up to the handler
 */
export function openCustomResources(file: string, stackName: string, stackId: string): ApplyCustomResource {
  return async (request) => {
    const { logicalId, type, properties } = request;
    const kept = readJson<Record<string, Kept>>(file)?.[logicalId];
    const last = kept?.type === type ? kept : undefined;
    if (last && isDeepStrictEqual(last.properties, properties)) return last;

    const resource = await send(last ? 'Update' : 'Create', request, last);
    if (last && resource.physicalId !== last.physicalId) {
      await send('Delete', { ...request, properties: last.properties }, last);
    }
    writeJson(file, { ...readJson<object>(file), [logicalId]: { ...resource, type, properties } });
    return resource;
  };

  async function send(
    requestType: 'Create' | 'Update' | 'Delete',
    { logicalId, type, properties, invoke }: CustomResourceRequest,
    last: Kept | undefined,
  ): Promise<CustomResource> {
    const result = await invoke({
      RequestType: requestType,
      LogicalResourceId: logicalId,
      ResourceType: type,
      ResourceProperties: properties,
      ...(requestType === 'Update' && last && { OldResourceProperties: last.properties }),
      ...(last && { PhysicalResourceId: last.physicalId }),
      RequestId: `${logicalId}-${Date.now()}`,
      StackId: stackId,
    });
    if (!result.ok) {
      const advice = last
        ? '\nIf data of an earlier version is in the way, start over without it: --fresh.'
        : '';
      throw new StartError(
        `${stackName}: ${requestType} of ${logicalId} failed: ${result.errorMessage}${advice}`,
      );
    }
    const answer = (result.payload ?? {}) as { PhysicalResourceId?: string; Data?: Record<string, unknown> };
    return {
      physicalId: answer.PhysicalResourceId ?? last?.physicalId ?? logicalId,
      data: answer.Data ?? {},
    };
  }
}
