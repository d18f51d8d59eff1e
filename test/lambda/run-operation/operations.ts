import { createHandler } from '../../../lambda/run-operation/handler';
import { recordLog } from '../../support/log';
import { ownFacts } from '../../support/organization';
import { useMigratedDatabase } from '../../support/region-database';

export type Json = Readonly<Record<string, unknown>>;

/** The response of a refused operation. */
export const refused = (code: string, message: unknown = expect.any(String)) => ({
  ok: false,
  error: { code, message },
});

/** The function on a region's database, signed in as its role, for the tests of a file. */
export function useOperations() {
  const region = useMigratedDatabase();
  const log = recordLog();
  beforeEach(() => log.clear());

  const invoke = (operation: string, input: Json) => {
    const ports = { database: region.as('run_operation'), ...ownFacts };
    return createHandler({ ports, log })({ operation, input });
  };
  /** The result of an operation that must succeed. */
  const run = async <Result = Json>(operation: string, input: Json): Promise<Result> => {
    const response = await invoke(operation, input);
    if (!response.ok) throw new Error(response.error.message);
    return response.result as Result;
  };
  return { region, log, invoke, run };
}
