import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Change, Stack } from '@aws-sdk/client-cloudformation';
import { planFolder, planPrefix } from '../../domain/workflow-roles';
import { callAws } from '../aws';
import { CommandFailed } from '../failure';
import { clientSettings } from '../target';
import type { AssembledStack } from './assembly';
import type { StackApi } from './deployed-stack';

/** Milliseconds that CloudFormation has for a change set: it takes seconds. */
const deadline = 10 * 60_000;

/**
 * What CloudFormation would change in a stack if the assembly's template were deployed now. It makes a change set, reads
 * it, and deletes it: nothing is executed.
 *
 * @param interval milliseconds between questions
 */
export async function askForChanges(
  api: StackApi,
  deployed: Stack,
  assembled: AssembledStack,
  interval: number,
): Promise<readonly Change[]> {
  const name = `${planPrefix}${randomUUID()}`;
  const template = await uploadTemplate(api, deployed, assembled, name);
  try {
    await createChangeSet(api, deployed, assembled, name, template.url);
    return await readWhenReady(api, name, interval).finally(() => deleteChangeSet(api, name));
  } finally {
    await template.remove();
  }
}

/** A template of more than 51,200 bytes has to come from S3. */
async function uploadTemplate(
  api: StackApi,
  deployed: Stack,
  { bucket, template }: AssembledStack,
  name: string,
) {
  const { DeleteObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const account = deployed.StackId?.split(':')[4] ?? '';
  // S3 answers without a body, which the collector of the other services takes for a foreign answer.
  const { streamCollector: _, ...settings } = clientSettings(api.region);
  const client = new S3Client(settings);
  const object = {
    Bucket: bucket(account),
    Key: `${planFolder}/${name}.json`,
    ExpectedBucketOwner: account,
  };
  await callAws(api, 's3:PutObject', (options) =>
    client.send(new PutObjectCommand({ ...object, Body: template }), options),
  );
  return {
    url: `https://${object.Bucket}.s3.${api.region}.amazonaws.com/${object.Key}`,
    remove: () =>
      callAws(api, 's3:DeleteObject', (options) => client.send(new DeleteObjectCommand(object), options)),
  };
}

/** Role and notifications stay because they are left out; of the parameters, those that the stack has. */
async function createChangeSet(
  api: StackApi,
  deployed: Stack,
  { parameters, tags }: AssembledStack,
  ChangeSetName: string,
  TemplateURL: string,
): Promise<void> {
  const { CreateChangeSetCommand } = await import('@aws-sdk/client-cloudformation');
  const kept =
    deployed.Parameters?.filter(({ ParameterKey = '' }) => parameters.includes(ParameterKey)) ?? [];
  const request = new CreateChangeSetCommand({
    StackName: api.stackId,
    ChangeSetName,
    ClientToken: ChangeSetName,
    TemplateURL,
    Parameters: kept.map(({ ParameterKey }) => ({ ParameterKey, UsePreviousValue: true })),
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
    Capabilities: ['CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM'],
  });
  await callAws(api, 'cloudformation:CreateChangeSet', (options) =>
    api.cloudFormation.send(request, options),
  );
}

async function readWhenReady(
  api: StackApi,
  ChangeSetName: string,
  interval: number,
): Promise<readonly Change[]> {
  const { DescribeChangeSetCommand } = await import('@aws-sdk/client-cloudformation');
  const read = (NextToken?: string) => {
    const request = { StackName: api.stackId, ChangeSetName, IncludePropertyValues: true, NextToken };
    return callAws(api, 'cloudformation:DescribeChangeSet', (options) =>
      api.cloudFormation.send(new DescribeChangeSetCommand(request), options),
    );
  };
  for (const giveUp = Date.now() + deadline; Date.now() < giveUp; await pause(interval)) {
    let page = await read();
    if (page.Status === 'FAILED') return noChanges(page.StatusReason);
    if (page.Status !== 'CREATE_COMPLETE') continue;
    const changes = [...(page.Changes ?? [])];
    while (page.NextToken) {
      page = await read(page.NextToken);
      changes.push(...(page.Changes ?? []));
    }
    return changes;
  }
  throw new CommandFailed(
    `CloudFormation made no change set of ${api.stackId} within ${deadline / 60_000} minutes.`,
    'Try again; AWS tells of its troubles in the AWS Health Dashboard.',
  );
}

/** Only the words tell "nothing changes" from other failures: CloudFormation has no status for it. */
function noChanges(reason = 'no reason is given'): readonly Change[] {
  if (/didn't contain changes|No updates are to be performed/.test(reason)) return [];
  throw new CommandFailed(
    `CloudFormation refuses the change set: ${reason.replace(/\.$/, '')}.`,
    'Correct the template: a deployment would fail alike.',
  );
}

async function deleteChangeSet(api: StackApi, ChangeSetName: string): Promise<void> {
  const { DeleteChangeSetCommand } = await import('@aws-sdk/client-cloudformation');
  const request = new DeleteChangeSetCommand({ StackName: api.stackId, ChangeSetName });
  await callAws(api, 'cloudformation:DeleteChangeSet', (options) =>
    api.cloudFormation.send(request, options),
  );
}
