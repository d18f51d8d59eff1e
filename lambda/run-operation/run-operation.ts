import type { OperationError } from '../../domain/operations';
import { fail, type Result } from '../../domain/result';
import type { Operation, Ports } from './operation';
import { addUserGroup } from './operations/add-user-group';
import { addWebhook } from './operations/add-webhook';
import { describeIdentity } from './operations/describe-identity';
import { describeWebhook } from './operations/describe-webhook';
import { disableWebhook } from './operations/disable-webhook';
import { enableWebhook } from './operations/enable-webhook';
import { listAuditRecords } from './operations/list-audit-records';
import { listDeliveryAttempts } from './operations/list-delivery-attempts';
import { listKeptEvents } from './operations/list-kept-events';
import { listWebhooks } from './operations/list-webhooks';
import { removeEphemeralOrganizations } from './operations/remove-ephemeral-organizations';
import { removeWebhook } from './operations/remove-webhook';
import { rotateWebhookSecret } from './operations/rotate-webhook-secret';
import { seed } from './operations/seed';
import { updateWebhook } from './operations/update-webhook';
import type { Request } from './request';

/** Every operation by the name that commands call it by. A new one is a file in `operations/` and a line here. */
const operations: Readonly<Record<string, Operation>> = {
  'add-user-group': addUserGroup,
  'add-webhook': addWebhook,
  'describe-identity': describeIdentity,
  'describe-webhook': describeWebhook,
  'disable-webhook': disableWebhook,
  'enable-webhook': enableWebhook,
  'list-audit-records': listAuditRecords,
  'list-delivery-attempts': listDeliveryAttempts,
  'list-kept-events': listKeptEvents,
  'list-webhooks': listWebhooks,
  'remove-ephemeral-organizations': removeEphemeralOrganizations,
  'remove-webhook': removeWebhook,
  'rotate-webhook-secret': rotateWebhookSecret,
  seed,
  'update-webhook': updateWebhook,
};

/** Carries out the named operation; one that does not exist is answered with those that do. */
export async function runOperation(request: Request, ports: Ports): Promise<Result<unknown, OperationError>> {
  const operation = Object.hasOwn(operations, request.operation) ? operations[request.operation] : undefined;
  if (!operation) {
    const known = Object.keys(operations).join(', ');
    return fail({
      code: 'unknown_operation',
      message: `There is no operation "${request.operation}". Known: ${known}.`,
    });
  }
  return operation(request.input, ports);
}
