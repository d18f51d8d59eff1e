import { LOCAL_ACCOUNT_ID, physicalName } from '../../assembly/manifest';
import { placeholder, type ResourceTypes, type StackParts } from '../resource';
import type { Permissions } from './permissions';

export interface RoleNeeds extends StackParts {
  readonly permissions: Pick<Permissions, 'attachToRole'>;
}

const roleArn = (name: string): string => `arn:aws:iam::${LOCAL_ACCOUNT_ID}:role/${name}`;

export const iamResources: ResourceTypes<RoleNeeds> = {
  'AWS::IAM::Role': [
    // A boundary only takes away from what is granted here.
    'AssumeRolePolicyDocument Description ManagedPolicyArns Path PermissionsBoundary Policies Tags',
    ({ logicalId, properties }, { stack, permissions }) => {
      const name = physicalName(stack, logicalId);
      for (const { PolicyDocument } of properties.Policies ?? []) {
        permissions.attachToRole(roleArn(name), PolicyDocument, logicalId);
      }
      return { ref: name, attributes: { Arn: roleArn(name) } };
    },
  ],
  'AWS::IAM::Policy': [
    'PolicyDocument PolicyName Roles',
    (request, context) => {
      const { logicalId, properties } = request;
      for (const name of properties.Roles) {
        context.permissions.attachToRole(roleArn(name), properties.PolicyDocument, logicalId);
      }
      return placeholder(request, context);
    },
  ],
};
