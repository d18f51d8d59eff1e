import organizationsAndGroups from './0001-organizations-and-groups.sql';
import userActionsAndAudit from './0002-user-actions-and-audit.sql';
import webhooks from './0003-webhooks.sql';
import webhookNextAttempt from './0004-webhook-next-attempt.sql';
import throwAwayOrganizations from './0005-throw-away-organizations.sql';
import identitiesStayAsTheyAre from './0006-identities-stay-as-they-are.sql';
import auditBySubject from './0007-audit-by-subject.sql';
import deliverySlots from './0008-delivery-slots.sql';
import deleteUserGroup from './0009-delete-user-group.sql';
import webhookOperations from './0010-webhook-operations.sql';
import webhookDisabling from './0011-webhook-disabling.sql';

/**
 * A forward-only step of the schema. Once applied anywhere, its text never changes: a later file amends it. Over the Data
 * API a file has 45 seconds; what takes longer, such as an index of a large table, is made by hand before, and by the file
 * only where it is missing. The release before has to run on the schema after it: lib/checks/migrations.ts.
 */
export interface Migration {
  /** The file's name without its ending; sorts in the order of application. */
  readonly name: string;
  readonly text: string;
}

export const migrations: readonly Migration[] = [
  { name: '0001-organizations-and-groups', text: organizationsAndGroups },
  { name: '0002-user-actions-and-audit', text: userActionsAndAudit },
  { name: '0003-webhooks', text: webhooks },
  { name: '0004-webhook-next-attempt', text: webhookNextAttempt },
  { name: '0005-throw-away-organizations', text: throwAwayOrganizations },
  { name: '0006-identities-stay-as-they-are', text: identitiesStayAsTheyAre },
  { name: '0007-audit-by-subject', text: auditBySubject },
  { name: '0008-delivery-slots', text: deliverySlots },
  { name: '0009-delete-user-group', text: deleteUserGroup },
  { name: '0010-webhook-operations', text: webhookOperations },
  { name: '0011-webhook-disabling', text: webhookDisabling },
];
