import { connectDatabase } from '../../../../lambda/database/connect';
import { sql } from '../../../../lambda/database/sql';
import { bind } from '../../../../lambda/shared/bind';

/** The path alone, with the least that has to be committed: a function that inserts one row by the product's own adapter. */
export const handler = bind(
  (database) =>
    async ({ id }: { readonly id: string }) => {
      const result = await database.execute(sql`
        insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
        values (${id}, '', '', '', now())`);
      return { statusCode: result.ok ? 200 : 503 };
    },
  () => connectDatabase(process.env),
);
