import { environments } from '../../lib/environments';
import { withEveryOption } from '../support/rows';
import { type Resource, type StackTemplate, synthesizeEveryStack } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

/** What public rule packs ask of resources like ours, and AWS Solutions does not: by type, what holds for each of its resources. */
const protections: Readonly<
  Record<string, (properties: Json, stack: StackTemplate, resource: Resource) => unknown>
> = {
  'Alarm: notifies, or is a part of one that does': ({ AlarmActions = [] }, stack, { logicalId }) =>
    AlarmActions.length > 0 ||
    stack
      .all('AWS::CloudWatch::CompositeAlarm')
      .some(({ AlarmRule, ...each }) => JSON.stringify(each).includes(`"${logicalId}"`)),
  'DBCluster: encrypted by a key of ours, with its log exported': ({
    StorageEncrypted,
    KmsKeyId,
    EnableCloudwatchLogsExports,
  }) => StorageEncrypted && KmsKeyId && EnableCloudwatchLogsExports.includes('postgresql'),
  'DBInstance: closed to the internet': ({ PubliclyAccessible }) => PubliclyAccessible === false,
  'Key: rotated, if it can be': ({ KeySpec, EnableKeyRotation }) =>
    KeySpec !== undefined || EnableKeyRotation === true,
  'LogGroup: encrypted by a key of ours, and not kept forever': ({ KmsKeyId, RetentionInDays }) =>
    KmsKeyId && RetentionInDays > 0,
  'Permission: for a service, from one source': ({ Principal, SourceArn }) =>
    /^[\w-]+\.amazonaws\.com$/.test(Principal) && SourceArn,
  'Policy: without administration': ({ PolicyDocument }) => !PolicyDocument.Statement.some(administers),
  'Role: without administration': ({ Policies = [], ManagedPolicyArns = [] }) =>
    !Policies.some(({ PolicyDocument }: Json) => PolicyDocument.Statement.some(administers)) &&
    !/Administrator|FullAccess/.test(JSON.stringify(ManagedPolicyArns)),
  'Secret: encrypted by a key of ours': ({ KmsKeyId }) => KmsKeyId,
  'Stage: behind the firewall': (_, stack, { logicalId }) =>
    stack
      .all('AWS::WAFv2::WebACLAssociation')
      .some((each) => JSON.stringify(each).includes(`{"Ref":"${logicalId}"}`)),
  'Topic: encrypted by a key of ours': ({ KmsMasterKeyId }) => KmsMasterKeyId,
  'VPC: with a flow log and an empty default security group': (_, stack) =>
    stack.all('AWS::EC2::FlowLog').length === 1 && stack.all('Custom::VpcRestrictDefaultSG').length === 1,
  'WebACL: with a log': (_, stack, { logicalId }) =>
    JSON.stringify(stack.only('AWS::WAFv2::LoggingConfiguration')).includes(`"${logicalId}"`),
};

/** Allows every action, or every action of a service, on everything. */
const administers = ({ Effect, Action, Resource: on }: Json) =>
  Effect === 'Allow' &&
  [Action].flat().some((action) => /^(\*|\w+:\*)$/.test(action)) &&
  [on].flat().includes('*');

const stacks = Object.entries(synthesizeEveryStack(environments.map(withEveryOption)));

it.each(Object.entries(protections))('%s', (what, holds) => {
  const resources = stacks.flatMap(([name, stack]) =>
    stack.resources
      .filter(({ Type }) => Type.endsWith(`::${what.split(':')[0]}`))
      .map((resource) => ({ name, stack, resource })),
  );
  expect(resources).not.toEqual([]);
  const open = resources.filter(({ stack, resource }) => !holds(resource.Properties ?? {}, stack, resource));
  expect(open.map(({ name, resource }) => `${name} ${resource.logicalId}`)).toEqual([]);
});
