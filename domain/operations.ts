import type { Attempt } from './delivery';
import type { UrlRefusal } from './receiver-url';

/** A webhook as operators see it. Times, here and below, are ISO 8601, UTC. */
export interface Webhook {
  readonly webhookId: string;
  readonly organizationId: string;
  readonly url: string;
  /** Null is all of them. */
  readonly kinds: readonly string[] | null;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly disabledAt: string | null;
  readonly secretVersion: number;
  readonly rotatedAt: string | null;
  readonly createdAt: string;
}

/** An organization with a caller of each kind and a user group that they are members of. */
export interface Seeded {
  readonly organizationId: string;
  readonly callerId: string;
  readonly serviceAccountId: string;
  readonly endUserId: string;
  readonly userGroupId: string;
  readonly userGroupName: string;
}

export interface AuditRecord {
  readonly date: string;
  readonly organizationId: string;
  readonly identityId: string;
  readonly operation: string;
  readonly subjectId: string;
  readonly subjectName: string;
  readonly outcome: string;
  readonly requestId: string;
}

/** Which attempts: all when left out. */
export interface AttemptQuery {
  readonly eventId?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly outcome?: Attempt['outcome'] | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** @default 1,000, which is the most */
  readonly limit?: number;
}

/** Which kept events. The next page begins at the last event's time, `after` its id. */
export interface KeptEventQuery {
  readonly webhookId: string;
  readonly eventId?: string | undefined;
  /** Leaves out those that were delivered to the webhook. @default false */
  readonly undelivered?: boolean;
  readonly since: string;
  readonly until: string;
  readonly after?: string | undefined;
  /** @default 1,000, which is the most */
  readonly limit?: number;
}

export interface KeptEvent {
  readonly eventId: string;
  readonly acceptedAt: string;
}

interface OfWebhook {
  readonly webhookId: string;
}

/** What the operations function does for operators, by name: input and result. */
export interface Operations {
  seed: [input: { readonly userGroupName: string; readonly ephemeral?: boolean }, result: Seeded];
  'add-user-group': [
    input: { readonly organizationId: string; readonly userGroupName: string },
    result: Seeded,
  ];
  'remove-ephemeral-organizations': [
    input: { readonly organizationId: string },
    result: { readonly removed: readonly string[] },
  ];
  'describe-identity': [
    input: { readonly identityId: string },
    result: {
      readonly identityId: string;
      readonly organizationId: string;
      readonly kind: string;
      readonly active: boolean;
    },
  ];
  'list-audit-records': [
    input: { readonly userGroupId: string },
    result: { readonly records: readonly AuditRecord[] },
  ];
  'add-webhook': [
    input: {
      readonly organizationId: string;
      readonly url: string;
      readonly kinds?: readonly string[] | null | undefined;
    },
    result: Pick<Webhook, 'webhookId' | 'organizationId' | 'url' | 'kinds' | 'secretVersion'>,
  ];
  'list-webhooks': [
    input: { readonly organizationId: string },
    result: { readonly webhooks: readonly Webhook[] },
  ];
  'describe-webhook': [input: OfWebhook, result: Webhook];
  'update-webhook': [
    input: OfWebhook & {
      readonly url?: string | undefined;
      readonly kinds?: readonly string[] | null | undefined;
    },
    result: Webhook,
  ];
  'rotate-webhook-secret': [
    input: OfWebhook & { readonly again?: boolean },
    result: {
      readonly webhookId: string;
      readonly secretVersion: number;
      readonly rotatedAt: string;
      readonly previousSignsUntil: string;
    },
  ];
  'enable-webhook': [input: OfWebhook, result: Pick<Webhook, 'webhookId' | 'enabled' | 'disabledReason'>];
  'disable-webhook': [
    input: OfWebhook,
    result: Pick<Webhook, 'webhookId' | 'organizationId' | 'enabled'> & {
      readonly disabledReason: string;
      readonly disabledAt: string;
      /** False when it was disabled before. */
      readonly changed: boolean;
    },
  ];
  'remove-webhook': [input: OfWebhook, result: Pick<Webhook, 'webhookId' | 'organizationId'>];
  'list-delivery-attempts': [input: AttemptQuery, result: { readonly attempts: readonly Attempt[] }];
  'list-kept-events': [input: KeptEventQuery, result: { readonly events: readonly KeptEvent[] }];
}

export type OperationName = keyof Operations;
export type Input<Name extends OperationName> = Operations[Name][0];
export type OperationResult<Name extends OperationName> = Operations[Name][1];

export type OperationErrorCode =
  | 'input_invalid'
  | 'unknown_operation'
  | 'database_unavailable'
  | 'organization_not_found'
  | 'organization_not_seeded'
  | 'organization_not_ephemeral'
  | 'identity_not_found'
  | 'user_group_not_found'
  | 'user_group_name_taken'
  | 'webhook_not_found'
  | 'too_many_webhooks'
  | 'rotation_running'
  | 'event_not_found'
  | UrlRefusal;

/** Why an operation was not carried out: `code` for programs, `message` for the operator, with the remedy. */
export interface OperationError {
  readonly code: OperationErrorCode;
  readonly message: string;
}
