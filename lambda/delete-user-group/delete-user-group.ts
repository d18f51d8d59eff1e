import type { APIGatewayProxyEvent } from 'aws-lambda';
import { isId } from '../../domain/ids';
import { ok } from '../../domain/result';
import { routes } from '../../domain/routes';
import { readDecision } from '../shared/decision';
import { type Outcome, readHeader, refuse } from '../shared/http';
import type { VerifyUserAction } from '../shared/user-action';
import type { DeleteUserGroup } from './delete-in-database';

export interface DeletionPorts {
  readonly verifyUserAction: VerifyUserAction;
  readonly deleteUserGroup: DeleteUserGroup;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const { method, path } = routes.deleteUserGroup;
/** `{}` counts as no body. */
const emptyBodies = ['', '{}'];

/** The first check that fails, in the order of the API's contract, determines the response. */
export async function deleteUserGroup(
  event: APIGatewayProxyEvent,
  requestId: string,
  ports: DeletionPorts,
): Promise<Outcome<'deleteUserGroup'>> {
  const decision = readDecision(event.requestContext.authorizer ?? {}, ports.now() / 1000);
  if (readHeader(event, 'authorization').length > 1) return refuse('token_malformed');
  if (!decision.ok) return decision;
  const caller = decision.value;

  const userGroupId = event.pathParameters?.userGroupId ?? '';
  if (!isId(userGroupId, 'ug')) return refuse('invalid_user_group_id');
  const query = event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {};
  if (Object.keys(query).length > 0) return refuse('query_not_allowed');
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8').toString('latin1');
  if (!emptyBodies.includes(body)) return refuse('body_not_allowed');
  if (caller.kind === 'EndUser') return refuse('caller_kind_not_allowed');

  const action = ports.verifyUserAction(readHeader(event, 'x-svc-useraction'), {
    caller,
    method,
    path: path.replace('{userGroupId}', userGroupId),
    bodies: emptyBodies,
  });
  if (!action.ok) return action;

  const outcome = await ports.deleteUserGroup({ caller, userGroupId, userAction: action.value, requestId });
  if (!outcome.ok) return refuse('database_unavailable', outcome.error.reason);
  return outcome.value === 'deleted' ? ok({}) : refuse(outcome.value);
}
