import { arn, physicalName, type Stack, type TemplateObject } from '../assembly/manifest';
import type { Postgres } from '../postgres/postgres';
import type { Cleanup } from '../shared/cleanup';
import type { Logs } from '../shared/logs';
import type { EnvironmentFolder } from '../state/paths';
import type { Permissions } from './iam/permissions';
import type { Runtime } from './lambda/instance';
import type { LocalCertificate } from './rds/certificate';
import type { Services } from './services';

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

/** Dependencies of one stack's resources. */
export interface StackContext {
  readonly stack: Stack;
  readonly folder: EnvironmentFolder;
  readonly permissions: Permissions;
  readonly services: Services;
  /** Serves this stack only. */
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  readonly logs: Logs;
  /** @default - a process for each instance of a function */
  readonly runtime: Runtime | undefined;
  /** Cleanup steps of the created resources. */
  readonly cleanup: Cleanup;
}

/** Creates each type of resource; lists its supported properties, including those without effect here (`*`: any). */
export type ResourceTypes = Readonly<
  Record<
    string,
    readonly [
      properties: string,
      create: (request: ResourceRequest, context: StackContext) => LocalResource | Promise<LocalResource>,
    ]
  >
>;

/** A name and an ARN, for resources without effect locally or read once all resources exist. */
export function placeholder({ logicalId, type }: ResourceRequest, { stack }: StackContext): LocalResource {
  const name = physicalName(stack, logicalId);
  return { ref: name, attributes: { Arn: arn(stack, String(type.split('::')[1]).toLowerCase(), name) } };
}
