import { fail, ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField } from '../request';

/** The organization and kind of an identity, as its tokens carry them. */
export const describeIdentity = operation(
  { identityId: idField('us', 'sa') },
  async ({ identityId }, ports) => {
    const outcome = await ports.database.execute(sql`
    select organization_id, kind, active from identities where identity_id = ${identityId}`);
    if (!outcome.ok) return outcome;

    const [identity] = outcome.value;
    if (!identity) {
      return fail({
        code: 'identity_not_found',
        message: `There is no identity ${identityId} in environment ${ports.environment}. "seed" makes some.`,
      });
    }
    return ok({
      identityId,
      organizationId: identity.organization_id,
      kind: identity.kind,
      active: identity.active,
    });
  },
);
