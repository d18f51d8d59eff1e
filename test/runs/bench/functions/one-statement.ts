import { connectDatabase } from '../../../../lambda/database/connect';
import { sql } from '../../../../lambda/database/sql';
import { bind } from '../../../../lambda/shared/bind';

/** `read` is the least that a round trip can carry, `write` the least that has to be committed. */
export type OneStatement =
  | { readonly statement: 'read' }
  | { readonly statement: 'write'; readonly id: string };

/** The path alone: a function that sends one statement by the product's own adapter. */
export const handler = bind(
  (database) => async (event: OneStatement) => {
    const result = await database.execute(
      event.statement === 'read'
        ? sql`select 1`
        : sql`insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
            values (${event.id}, '', '', '', now())`,
    );
    return { statusCode: result.ok ? 200 : 503 };
  },
  () => connectDatabase(process.env),
);
