import * as v from 'valibot';
import { type Attempt, outcomes, type PauseReason } from './delivery';
import { isEventId, isEventKind } from './event';
import { type IdPrefix, isId } from './ids';
import { isOfProbe } from './probe';
import { beginsWithDay } from './time';

/** A webhook as operators see it. Times, here and below, are ISO 8601, UTC. */
export interface Webhook {
  readonly webhookId: string;
  readonly organizationId: string;
  readonly url: string;
  /** Null means all. */
  readonly kinds: readonly string[] | null;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly disabledAt: string | null;
  readonly secretVersion: number;
  readonly rotatedAt: string | null;
  readonly createdAt: string;
  /** Null unless paused. */
  readonly pausedUntil: string | null;
  readonly pauseReason: PauseReason | null;
}

/** An organization with a caller of each kind, all members of one user group. */
export interface Seeded {
  readonly organizationId: string;
  readonly callerId: string;
  readonly serviceAccountId: string;
  readonly endUserId: string;
  readonly userGroupId: string;
  readonly userGroupName: string;
}

interface AuditRecord {
  readonly date: string;
  readonly organizationId: string;
  readonly identityId: string;
  readonly operation: string;
  readonly subjectId: string;
  readonly subjectName: string;
  readonly outcome: string;
  readonly requestId: string;
}

interface Results {
  seed: Seeded;
  'remove-ephemeral-organizations': { readonly removed: readonly string[] };
  'describe-identity': {
    readonly identityId: string;
    readonly organizationId: string;
    readonly kind: string;
    readonly active: boolean;
  };
  'list-audit-records': { readonly records: readonly AuditRecord[] };
  'add-webhook': Webhook;
  'list-webhooks': { readonly webhooks: readonly Webhook[] };
  'describe-webhook': Webhook;
  'update-webhook': Webhook;
  'rotate-webhook-secret': {
    readonly webhookId: string;
    readonly secretVersion: number;
    readonly rotatedAt: string;
    readonly previousSignsUntil: string;
  };
  'enable-webhook': Webhook;
  'disable-webhook': Webhook;
  'remove-webhook': Pick<Webhook, 'webhookId' | 'organizationId'>;
  'list-delivery-attempts': { readonly attempts: readonly Attempt[] };
  'list-stored-events': {
    readonly events: readonly {
      readonly eventId: string;
      readonly acceptedAt: string;
      readonly delivered: boolean;
    }[];
  };
}

// Fields of inputs. Each message completes the sentence "FIELD must be …".

const text = (isValid: (value: string) => boolean, form: string) =>
  v.pipe(v.string(form), v.check(isValid, form));

const id = <Prefix extends IdPrefix>(...prefixes: readonly Prefix[]) =>
  text(
    (value) => isId(value, ...prefixes),
    `an id such as ${prefixes.map((prefix) => `${prefix}-xxxxx-xxxxx-xxxxxxxxxxxxxxxx`).join(' or ')}`,
  );

const [organizationId, webhookId] = [id('or'), id('wh')];
/** What an operator may change: the probe's own must stay as they are to prove anything. */
const customers = (schema: typeof webhookId) =>
  v.pipe(
    schema,
    v.check((value) => !isOfProbe(value), "a customer's, not that of the environment's own probe"),
  );
const [customersOrganization, customersWebhook] = [customers(organizationId), customers(webhookId)];
const eventId = text(isEventId, "an event's id: 1 to 64 letters, digits, hyphens or underscores");
const url = v.string('a URL');
const flag = v.optional(v.boolean('true or false'), false);

/** The database schema's limit. */
const name = text(
  (value) => /^[^\p{Cc}\p{Cs}]{1,256}$/u.test(value),
  '1 to 256 characters without control characters or unpaired surrogates',
);

const limitForm = 'a whole number from 1 to 1000';
const limit = v.optional(
  v.pipe(v.number(limitForm), v.integer(limitForm), v.minValue(1, limitForm), v.maxValue(1_000, limitForm)),
  1_000,
);

/** In UTC, its year is 0001 to 9999: PostgreSQL has no year 0, and refuses later ones as JavaScript writes them. */
const time = v.pipe(
  text((value) => {
    const isTime = /^\d{4}-\d\d-\d\dT/.test(value) && beginsWithDay(value);
    const year = isTime ? new Date(value).getUTCFullYear() : 0;
    return year >= 1 && year <= 9_999;
  }, 'a time such as 2026-11-20T12:00:00Z, of the years 0001 to 9999'),
  v.transform((value) => new Date(value).toISOString()),
);

const kindsForm = '1 to 100 kinds of events such as wallet.created, or null for all';
/** Unique kinds of events; null means all. */
const kinds = v.nullable(
  v.pipe(
    v.array(text(isEventKind, kindsForm), kindsForm),
    v.minLength(1, kindsForm),
    v.maxLength(100, kindsForm),
    v.transform((values) => [...new Set(values)]),
  ),
);

export const inputs = {
  seed: { userGroupName: name, ephemeral: flag },
  'remove-ephemeral-organizations': { organizationId },
  'describe-identity': { identityId: id('us', 'sa') },
  'list-audit-records': { userGroupId: id('ug') },
  /** `check`: to the environment's own receiver instead of a `url`, for an ephemeral organization. */
  'add-webhook': {
    organizationId: customersOrganization,
    url: v.optional(url),
    check: flag,
    kinds: v.optional(kinds),
  },
  'list-webhooks': { organizationId },
  'describe-webhook': { webhookId },
  'update-webhook': { webhookId: customersWebhook, url: v.optional(url), kinds: v.optional(kinds) },
  'rotate-webhook-secret': { webhookId: customersWebhook, again: flag },
  'enable-webhook': { webhookId: customersWebhook },
  'disable-webhook': { webhookId: customersWebhook },
  'remove-webhook': { webhookId: customersWebhook },
  'list-delivery-attempts': {
    eventId: v.optional(eventId),
    webhookId: v.optional(webhookId),
    outcome: v.optional(v.picklist(outcomes, `one of ${outcomes.join(', ')}`)),
    since: v.optional(time),
    until: v.optional(time),
    limit,
  },
  'list-stored-events': {
    webhookId,
    eventId: v.optional(eventId),
    undelivered: flag,
    since: time,
    until: time,
    after: v.optional(eventId),
    limit,
  },
};

export type OperationName = keyof Results & keyof typeof inputs;
type Schemas = {
  [Name in OperationName]: v.StrictObjectSchema<(typeof inputs)[Name], undefined>;
};
export type Input<Name extends OperationName> = v.InferInput<Schemas[Name]>;
/** A validated input, with its defaults. */
export type ValidInput<Name extends OperationName> = v.InferOutput<Schemas[Name]>;
export type OperationResult<Name extends OperationName> = Results[Name];

/** Why an operation failed: `code` for programs, `message` for the operator, with the remedy. */
export interface OperationError {
  readonly code: string;
  readonly message: string;
}
