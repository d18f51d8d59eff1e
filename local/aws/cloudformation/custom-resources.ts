import { isDeepStrictEqual } from 'node:util';
import type { TemplateObject } from '../../../domain/assembly';
import { arn } from '../../assembly/manifest';
import { StartError } from '../../shared/start-error';
import { readJson, writeJson } from '../../state/json';
import type { EnvironmentFolder } from '../../state/paths';
import type { Permissions } from '../iam/permissions';
import type { StackFunction, StackFunctions } from '../lambda/function';
import type { LocalResource, ResourceRequest, StackParts } from '../resource';

export interface CustomResourceNeeds extends StackParts {
  readonly folder: Pick<EnvironmentFolder, 'customResourcesFile'>;
  readonly permissions: Pick<Permissions, 'requireRole'>;
  readonly functions: Pick<StackFunctions, 'find'>;
}

/** A custom resource as of the last start. */
interface Applied {
  readonly physicalId: string;
  /** The values of `Fn::GetAtt`. */
  readonly data: TemplateObject;
  readonly properties: TemplateObject;
}

/** The last request to each handler. The next one waits for it, and uses the same instance: starting one takes longer. */
const requests = new WeakMap<StackFunction, Promise<unknown>>();

/**
 * `Custom::…` of the CDK's provider framework: created, then updated whenever its properties change between starts.
 * One removed from the template gets no Delete, because its function is removed too.
 *
 * https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.custom_resources-readme.html
 *
 * @throws StartError with the handler's reason
 */
export async function createCustomResource(
  { logicalId, type, properties }: ResourceRequest,
  { stack, folder, permissions, functions }: CustomResourceNeeds,
): Promise<LocalResource> {
  const { ServiceToken, ...wanted } = properties;
  const framework = functions.find(ServiceToken);
  const handler = functions.find(framework.variables.USER_ON_EVENT_FUNCTION_ARN ?? '');
  // Source of the framework's calls: aws-cdk-lib/custom-resources, provider-framework/runtime/outbound.
  const actions = ['lambda:GetFunction', 'lambda:InvokeFunction'];
  permissions.requireRole(logicalId, framework.role, actions, handler.arn);
  const applied = () => readJson<Record<string, Applied>>(folder.customResourcesFile) ?? {};
  const last = applied()[logicalId];
  if (last && isDeepStrictEqual(last.properties, wanted))
    return { ref: last.physicalId, attributes: last.data };

  const RequestType = last ? 'Update' : 'Create';
  const request = {
    RequestType,
    LogicalResourceId: logicalId,
    ResourceType: type,
    ResourceProperties: wanted,
    ...(last && { OldResourceProperties: last.properties, PhysicalResourceId: last.physicalId }),
    RequestId: `${logicalId}-${Date.now()}`,
    StackId: arn(stack, 'cloudformation', `stack/${stack.name}/local`),
  };
  const response = Promise.resolve(requests.get(handler)).then(() => handler.invoke(request));
  requests.set(handler, response);
  const result = await response;
  if (!result.ok) {
    const advice = last ? '\nIf data of an earlier version causes this, delete it with --fresh.' : '';
    throw new StartError(
      `${stack.name}: ${RequestType} of ${logicalId} failed: ${result.errorMessage}${advice}`,
    );
  }
  const { PhysicalResourceId: physicalId = last?.physicalId ?? logicalId, Data: data = {} } =
    (result.payload ?? {}) as { PhysicalResourceId?: string; Data?: TemplateObject };
  writeJson(folder.customResourcesFile, {
    ...applied(),
    [logicalId]: { physicalId, data, properties: wanted } satisfies Applied,
  });
  return { ref: physicalId, attributes: data };
}
