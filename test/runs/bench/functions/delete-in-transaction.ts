import { ok } from '../../../../domain/result';
import { connectDatabase } from '../../../../lambda/database/connect';
import type { Database, TransactionalDatabase } from '../../../../lambda/database/database';
import { type Statement, sql } from '../../../../lambda/database/sql';
import type {
  DeleteUserGroup,
  DeletionOutcome,
} from '../../../../lambda/delete-user-group/delete-in-database';
import { createDependencies, createHandler } from '../../../../lambda/delete-user-group/handler';
import { bind } from '../../../../lambda/shared/bind';

/**
 * The deletion as it is usually written: begin, permission, group, assignments, members, group, commit. It does less
 * than the product's: no single use of the user action, no audit record, nothing for a repeat.
 */
const deleteInTransaction =
  (database: TransactionalDatabase): DeleteUserGroup =>
  ({ caller, userGroupId }) =>
    database.transaction(async (open) => {
      const { organizationId, identityId } = caller;
      const permitted = await read(
        open,
        sql`
          select 1 from identities caller
          join permission_assignments assignment
            on assignment.organization_id = caller.organization_id and assignment.identity_id = caller.identity_id
          join permissions permission
            on permission.organization_id = assignment.organization_id
            and permission.permission_id = assignment.permission_id
          where caller.organization_id = ${organizationId} and caller.identity_id = ${identityId} and caller.active
            and ${'Auth:UserGroups:Delete'} = any (permission.operations)
          limit 1`,
      );
      if (permitted === 0) return ok<DeletionOutcome>('permission_missing');
      const group = await read(
        open,
        sql`
          select name from user_groups
          where organization_id = ${organizationId} and user_group_id = ${userGroupId} for update`,
      );
      if (group === 0) return ok<DeletionOutcome>('user_group_not_found');
      await read(
        open,
        sql`
          delete from permission_assignments
          where organization_id = ${organizationId} and user_group_id = ${userGroupId}`,
      );
      await read(
        open,
        sql`
          delete from user_group_members
          where organization_id = ${organizationId} and user_group_id = ${userGroupId}`,
      );
      await read(
        open,
        sql`delete from user_groups where organization_id = ${organizationId} and user_group_id = ${userGroupId}`,
      );
      return ok<DeletionOutcome>('deleted');
    });

async function read(database: Database, statement: Statement): Promise<number> {
  const result = await database.execute(statement);
  if (!result.ok) throw new Error(result.error.reason);
  return result.value.length;
}

/** The product's function with the other deletion. Both adapters can do transactions; the port says it of one only. */
export const handler = bind(createHandler, () => ({
  ...createDependencies(),
  deleteUserGroup: deleteInTransaction(connectDatabase(process.env) as TransactionalDatabase),
}));
