import type { TemplateObject } from '../../domain/assembly';
import { arn, physicalName, type Stack } from '../assembly/manifest';

/** A resource to create, after those that it refers to. */
export interface ResourceRequest {
  readonly logicalId: string;
  readonly type: string;
  /** Resolved on read: unread ones may refer to resources that do not exist locally. */
  readonly properties: TemplateObject;
}

/** A local resource. */
export interface LocalResource {
  /** The value of `Ref`. */
  readonly ref: string;
  /** The values of `Fn::GetAtt`. */
  readonly attributes: TemplateObject;
}

export type DeployedResource = ResourceRequest & LocalResource;
export type DeployedResources = ReadonlyMap<string, DeployedResource>;

/** What every resource is created from; those of a service declare what else they need. */
export interface StackParts {
  readonly stack: Stack;
}

/** Creates each type of resource; lists its supported properties, including those without effect here (`*`: any). */
export type ResourceTypes<Needs extends StackParts = StackParts> = Readonly<
  Record<
    string,
    readonly [
      properties: string,
      create: (request: ResourceRequest, needs: Needs) => LocalResource | Promise<LocalResource>,
    ]
  >
>;

/** A name and an ARN, for resources without effect locally or read once all resources exist. */
export function placeholder({ logicalId, type }: ResourceRequest, { stack }: StackParts): LocalResource {
  const name = physicalName(stack, logicalId);
  return { ref: name, attributes: { Arn: arn(stack, String(type.split('::')[1]).toLowerCase(), name) } };
}
