import { unexpectedResponse } from '../api';
import { listAuditRecords } from '../audit';
import { sendDeletion } from '../delete-group';
import { CommandFailed } from '../failure';
import { runOperation } from '../operations-function';
import type { Target } from '../target';
import type { StepOutput } from './run';

/** What is made to be deleted, by whom, and thrown away with everything of it. */
export interface EphemeralOrganization {
  readonly organizationId: string;
  readonly callerId: string;
  readonly userGroupId: string;
}

export async function makeEphemeralOrganization(target: Target): Promise<StepOutput<EphemeralOrganization>> {
  const seed = { userGroupName: 'Smoke test', ephemeral: true };
  const value = await runOperation(target, 'seed', seed);
  return { value, detail: value.organizationId };
}

/** Deletes the group as a caller of the API does, and expects 200 with an empty object. */
export async function deleteGroup(target: Target, made: EphemeralOrganization, signal: AbortSignal) {
  const { request, answer } = await send(target, made, signal);
  const { status, contentType, body } = answer;
  if (status !== 200 || contentType !== 'application/json' || JSON.stringify(body) !== '{}')
    unexpectedResponse(target, request, answer, '200 {} as application/json');
  return { value: made, detail: '200 {}' };
}

/** Deletes the group once more, with a signature of its own, and expects that there is none. */
export async function expectNotFound(target: Target, made: EphemeralOrganization, signal: AbortSignal) {
  const { request, answer } = await send(target, made, signal);
  const { code } = Object(answer.body) as { readonly code?: string };
  if (answer.status !== 404 || code !== 'user_group_not_found')
    unexpectedResponse(target, request, answer, '404 user_group_not_found');
  return { value: made, detail: '404 user_group_not_found' };
}

/** Expects that the deletion was recorded, with who did it. */
export async function expectAudited(target: Target, { userGroupId, callerId }: EphemeralOrganization) {
  const records = await listAuditRecords(target, userGroupId);
  const deletion = records.find(
    ({ outcome, identityId }) => outcome === 'deleted' && identityId === callerId,
  );
  if (!deletion) {
    throw new CommandFailed(
      `The audit has ${records.length} records of ${userGroupId}, and none says that ${callerId} deleted it.`,
      `Look into the log of the function that deletes user groups, in ${target.logs}.`,
    );
  }
  return { value: deletion, detail: `${deletion.operation} by ${callerId}` };
}

/** Removes the organization with everything of it, and what a run that was killed left behind a day ago. */
export async function ephemeral(target: Target, { organizationId }: EphemeralOrganization) {
  const { removed } = await runOperation(target, 'remove-ephemeral-organizations', { organizationId });
  return { value: removed, detail: `removed ${removed.join(', ')}` };
}

const send = (target: Target, made: EphemeralOrganization, signal: AbortSignal) => {
  const caller = { sub: made.callerId, org: made.organizationId, kind: 'CustomerEmployee' };
  return sendDeletion(target, async () => caller, made.userGroupId, signal);
};
