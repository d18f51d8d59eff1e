import type { Webhook } from '../../domain/operations';
import { CommandFailed } from '../failure';
import { runOperation } from '../operations-function';
import { type CommonOptions, id } from '../options';
import type { Target } from '../target';

/** Options of the commands that work on one webhook. */
export interface WebhookOptions extends CommonOptions {
  readonly webhook: string;
}

export const webhookOption = ['--webhook <id>', 'the webhook', id('wh')] as const;

/** Its state in words. */
export const stateOf = ({ enabled, disabledReason }: Webhook): string =>
  enabled ? 'enabled' : `disabled: ${disabledReason}`;

/** @throws OperationRefused `webhook_not_found` */
export async function describeWebhook(target: Target, webhookId: string): Promise<Webhook> {
  return runOperation(target, 'describe-webhook', { webhookId });
}

/** @throws CommandFailed for one that is disabled, with the command that enables it */
export function requireEnabled({ webhookId, enabled, disabledReason }: Webhook, target: Target): void {
  if (enabled) return;
  throw new CommandFailed(
    `${webhookId} is disabled (${disabledReason}): what is sent to it is dropped.`,
    `Enable it first: ${target.paste(`webhook enable --webhook ${webhookId}`)}`,
  );
}

/** The webhooks of an organization: the enabled ones first, the latest first. @throws OperationRefused `organization_not_found` */
export async function listWebhooks(target: Target, organizationId: string): Promise<readonly Webhook[]> {
  return (await runOperation(target, 'list-webhooks', { organizationId })).webhooks;
}
