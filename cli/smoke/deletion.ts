import { listAuditRecords } from '../audit';
import { CommandFailed } from '../failure';
import { runOperation } from '../operations-function';
import type { Target } from '../target';
import { signAccessToken } from '../token';
import { signUserAction } from '../user-action';
import { type ApiRequest, type ApiResponse, callApi, unexpectedResponse } from './api';
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
  const { request, answer } = await sendDeletion(target, made, signal);
  const { status, contentType, body } = answer;
  if (status !== 200 || contentType !== 'application/json' || JSON.stringify(body) !== '{}')
    unexpectedResponse(target, request, answer, '200 {} as application/json');
  return { value: made, detail: '200 {}' };
}

/** Deletes the group once more, with a signature of its own, and expects that there is none. */
export async function expectNotFound(target: Target, made: EphemeralOrganization, signal: AbortSignal) {
  const { request, answer } = await sendDeletion(target, made, signal);
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

async function sendDeletion(
  target: Target,
  { organizationId, callerId, userGroupId }: EphemeralOrganization,
  signal: AbortSignal,
): Promise<{ readonly request: ApiRequest; readonly answer: ApiResponse }> {
  const caller = async () => ({ sub: callerId, org: organizationId, kind: 'CustomerEmployee' });
  const [method, path] = ['DELETE', `/auth/user-groups/${userGroupId}`] as const;
  const [access, action] = await Promise.all([
    signAccessToken(target, caller, 300),
    signUserAction(target, caller, { method, path, body: '', expiresIn: 300 }),
  ]);
  const headers = { authorization: `Bearer ${access.token}`, 'x-svc-useraction': action.token };
  const request = { method, path, headers };
  return { request, answer: await callApi(target, request, signal) };
}
