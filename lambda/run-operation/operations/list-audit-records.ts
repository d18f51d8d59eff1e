import { fail, ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField } from '../request';
import { toIsoTime } from '../webhook';

/** What was done to a user group, the latest first, at most 100 records. They outlive the group and its organization. */
export const listAuditRecords = operation({ userGroupId: idField('ug') }, async ({ userGroupId }, ports) => {
  const outcome = await ports.database.execute(sql`
    select cast(extract(epoch from occurred_at) as double precision) as occurred_at, organization_id, identity_id,
      operation, subject_id, subject_name, outcome, request_id
    from audit_records
    where subject_id = ${userGroupId}
    order by audit_record_id desc
    limit 100`);
  if (!outcome.ok) return outcome;
  if (outcome.value.length === 0) {
    const group = await ports.database.execute(sql`
      select user_group_id from user_groups where user_group_id = ${userGroupId}`);
    if (!group.ok) return group;
    if (group.value.length === 0) {
      return fail({
        code: 'user_group_not_found',
        message: `There is no user group ${userGroupId} in environment ${ports.environment}, and nothing was recorded of one.`,
      });
    }
  }
  return ok({
    records: outcome.value.map((row) => ({
      date: toIsoTime(row.occurred_at),
      organizationId: row.organization_id,
      identityId: row.identity_id,
      operation: row.operation,
      subjectId: row.subject_id,
      subjectName: row.subject_name,
      outcome: row.outcome,
      requestId: row.request_id,
    })),
  });
});
