import { LOCAL_ACCOUNT_ID } from '../function-runtime/environment';
import type { AccessControl } from '../iam/access';
import type { Provision } from './deployment';
import { arn, physicalName, type StackIdentity } from './names';

type Access = Pick<AccessControl, 'attachToRole' | 'attachToResource'>;

const roleArn = (name: string): string => `arn:aws:iam::${LOCAL_ACCOUNT_ID}:role/${name}`;

/** The types of a template that say who may do what, each with what makes it take effect on this machine. */
export function provisionAccess(stack: StackIdentity, access: Access): Readonly<Record<string, Provision>> {
  return {
    'AWS::IAM::Role': async ({ logicalId, properties }) => {
      const { RoleName: name = physicalName(stack, logicalId), Policies = [] } = properties as {
        RoleName?: string;
        Policies?: readonly { readonly PolicyDocument: unknown }[];
      };
      for (const { PolicyDocument } of Policies)
        access.attachToRole(roleArn(name), PolicyDocument, logicalId);
      return { ref: name, attributes: { Arn: roleArn(name), RoleId: name } };
    },
    'AWS::IAM::Policy': async ({ logicalId, properties: { Roles, PolicyDocument } }) => {
      for (const name of Roles as readonly string[]) {
        access.attachToRole(roleArn(name), PolicyDocument, logicalId);
      }
      return { ref: physicalName(stack, logicalId), attributes: {} };
    },
    'AWS::SQS::QueuePolicy': async ({ logicalId, properties: { Queues, PolicyDocument } }) => {
      for (const url of Queues as readonly string[]) {
        access.attachToResource(arn(stack, 'sqs', String(url.split('/').at(-1))), PolicyDocument, logicalId);
      }
      return { ref: physicalName(stack, logicalId), attributes: {} };
    },
    // https://docs.aws.amazon.com/lambda/latest/dg/access-control-resource-based.html
    'AWS::Lambda::Permission': async ({ logicalId, properties }) => {
      const { Action, FunctionName, Principal, SourceArn, SourceAccount, ...others } = properties;
      const [unknown] = Object.keys(others);
      if (unknown) throw new Error(`${logicalId}: ${unknown} is not known on this machine.`);
      const statement = {
        Effect: 'Allow',
        Action,
        Resource: FunctionName,
        Principal: { Service: Principal },
        Condition: {
          ...(SourceArn !== undefined && { ArnLike: { 'aws:SourceArn': SourceArn } }),
          ...(SourceAccount !== undefined && { StringEquals: { 'aws:SourceAccount': SourceAccount } }),
        },
      };
      access.attachToResource(String(FunctionName), { Statement: [statement] }, logicalId);
      return { ref: physicalName(stack, logicalId), attributes: {} };
    },
  };
}
