import { randomUUID } from 'node:crypto';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { createDataApiDatabase } from '../../../../lambda/database/data-api';
import { sql } from '../../../../lambda/database/sql';
import { localClient } from '../../../support/aws-client';
import { startDatabase } from '../../world/database';
import { atMost, compare, type PartOptions, type PartResult, roundsOf, samplesFor } from '../figures';
import { interleave, time } from '../interleave';

const insert = () => sql`
  insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
  values (${randomUUID()}, '', '', '', now())`;

/** A transaction over the local Data API against the statement in it. */
export async function measureDataApi(options: PartOptions): Promise<PartResult> {
  const { cleanup, directory, signal } = options;
  const rounds = roundsOf(options, 1_000, samplesFor(options, 200));
  const { variables } = await startDatabase(cleanup, {
    ...{ directory, signal },
    ...{ access: 'data-api', durable: true },
  });
  const environment = variables('delete_user_group');
  const client = new RDSDataClient(localClient(environment.AWS_ENDPOINT_URL_RDS_DATA ?? ''));
  cleanup.add(() => client.destroy());
  const database = createDataApiDatabase(
    {
      clusterArn: environment.DATABASE_CLUSTER_ARN ?? '',
      secretArn: environment.DATABASE_SECRET_ARN ?? '',
      database: environment.DATABASE_NAME ?? '',
    },
    client,
  );
  options.progress(`${rounds.samples} rounds`);
  const taken = await interleave(
    {
      transaction: () => time(() => database.transaction((transaction) => transaction.execute(insert()))),
      alone: () => time(() => database.execute(insert())),
    },
    rounds,
  );
  const named = { what: 'begin, insert, commit', against: 'the insert alone', goal: atMost(4) };
  return { figures: [compare(named, taken.transaction, taken.alone)] };
}
