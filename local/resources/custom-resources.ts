import { isDeepStrictEqual } from 'node:util';
import type { InvocationResult } from '../lambda/instance';
import { readJson, writeJson } from '../state';

/** A custom resource as the template asks for it. */
export interface CustomResourceRequest {
  readonly logicalId: string;
  /** `Custom::SchemaMigration` */
  readonly type: string;
  /** Resolved, without `ServiceToken`. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** Calls the handler behind the service token. */
  invoke(event: CustomResourceEvent): Promise<InvocationResult>;
}

/**
 * What the CDK's provider framework hands to `onEvent`.
 *
 * Source: https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.custom_resources-readme.html
 */
export interface CustomResourceEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly LogicalResourceId: string;
  readonly ResourceType: string;
  readonly ResourceProperties: Readonly<Record<string, unknown>>;
  readonly OldResourceProperties?: Readonly<Record<string, unknown>>;
  readonly PhysicalResourceId?: string;
  readonly RequestId: string;
  readonly StackId: string;
}

/** A custom resource as its handler left it. */
export interface CustomResource {
  readonly physicalId: string;
  /** What `Fn::GetAtt` reads. */
  readonly data: Readonly<Record<string, unknown>>;
}

interface Kept extends CustomResource {
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface CustomResources {
  /**
   * Creates the resource, updates it when its properties differ from the last run's, or leaves it alone.
   *
   * @throws CustomResourceFailed with the handler's reason
   */
  apply(request: CustomResourceRequest): Promise<CustomResource>;
}

/** CloudFormation would fail the deployment here. Undoing what the handler did is up to the handler. */
export class CustomResourceFailed extends Error {
  override readonly name = 'CustomResourceFailed';
  constructor(stackName: string, logicalId: string, requestType: string, reason: string) {
    super(`${stackName}: ${requestType} of ${logicalId} failed: ${reason}`);
  }
}

/**
 * Applies the custom resources of one stack, as CloudFormation does through the CDK's provider framework.
 *
 * Resources that vanish from a template get no Delete: their function has vanished with them.
 *
 * @param options.file where their state is kept between runs; read when the first is applied
 */
export function openCustomResources(options: {
  readonly file: string;
  readonly stackName: string;
  readonly stackId: string;
}): CustomResources {
  const { file, stackName, stackId } = options;
  let read: Record<string, Kept> | undefined;

  return {
    async apply(request) {
      const { logicalId, type, properties } = request;
      read ??= readJson<Record<string, Kept>>(file) ?? {};
      const kept = read;
      const last = kept[logicalId]?.type === type ? kept[logicalId] : undefined;
      if (last && isDeepStrictEqual(last.properties, properties)) return last;

      const resource = await send(last ? 'Update' : 'Create', request, last);
      if (last && resource.physicalId !== last.physicalId) {
        await send('Delete', { ...request, properties: last.properties }, last);
      }
      kept[logicalId] = { ...resource, type, properties };
      writeJson(file, kept);
      return resource;
    },
  };

  async function send(
    requestType: CustomResourceEvent['RequestType'],
    { logicalId, type, properties, invoke }: CustomResourceRequest,
    last: Kept | undefined,
  ): Promise<CustomResource> {
    const event: CustomResourceEvent = {
      RequestType: requestType,
      LogicalResourceId: logicalId,
      ResourceType: type,
      ResourceProperties: properties,
      ...(requestType === 'Update' && last && { OldResourceProperties: last.properties }),
      ...(last && { PhysicalResourceId: last.physicalId }),
      RequestId: `${logicalId}-${Date.now()}`,
      StackId: stackId,
    };
    const result = await invoke(event);
    if (!result.ok) throw new CustomResourceFailed(stackName, logicalId, requestType, result.errorMessage);
    const answer = (result.payload ?? {}) as { PhysicalResourceId?: string; Data?: Record<string, unknown> };
    return {
      physicalId: answer.PhysicalResourceId ?? last?.physicalId ?? logicalId,
      data: answer.Data ?? {},
    };
  }
}
