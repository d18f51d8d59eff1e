import type pg from 'pg';
import { binder } from './bindings';
import type { Connections, DatabaseTarget, Resolve, Work } from './connections';
import { DataApiError, fromPostgres } from './errors';
import { formatRecords } from './formatted-records';
import type { Limits } from './limits';
import {
  choice,
  flag,
  type Members,
  optionalText,
  parameterSets,
  parameters,
  refuseSchema,
  requiredText,
} from './requests';
import { runStatement, type StatementResult } from './statements';
import { type TimeLimit, withinLimit } from './time-limit';
import type { Caller, Transactions } from './transactions';

export interface Services {
  readonly connections: Connections;
  readonly transactions: Transactions;
  readonly resolve: Resolve;
  readonly limits: Limits;
}

export type Operation = (request: Members, services: Services) => Promise<Members>;

/** https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_ExecuteStatement.html */
export const executeStatement: Operation = async (request, services) => {
  refuseSchema(request);
  const statement = binder(requiredText(request, 'sql'))(parameters(request));
  const { limits } = services;
  const resultSetOptions = resultSetOptionsOf(request);
  const asJson = choice(request, 'formatRecordsAs', ['NONE', 'JSON']) === 'JSON';
  const includeResultMetadata = flag(request, 'includeResultMetadata') && !asJson;
  const result = await run(
    request,
    services,
    { milliseconds: limits.statementMs, continueAfterTimeout: flag(request, 'continueAfterTimeout') },
    (client) => runStatement(client, statement, { resultSetOptions, includeResultMetadata, limits }),
  );
  return toResponse(result, asJson, limits);
};

/**
 * Each parameter set is one statement: outside a transaction, those before a failing one stay. AWS does not document it;
 * all or nothing needs a transaction.
 * https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_BatchExecuteStatement.html
 */
export const batchExecuteStatement: Operation = async (request, services) => {
  refuseSchema(request);
  const bind = binder(requiredText(request, 'sql'));
  const statements = parameterSets(request).map(bind);
  const { limits } = services;
  const resultSetOptions = { decimalReturnType: 'STRING', longReturnType: 'LONG' } as const;
  await run(
    request,
    services,
    { milliseconds: limits.statementMs, continueAfterTimeout: false },
    async (client, signal) => {
      for (const statement of statements) {
        if (signal.aborted) return;
        await runStatement(client, statement, { resultSetOptions, includeResultMetadata: false, limits });
      }
    },
  );
  return { updateResults: statements.map(() => ({ generatedFields: [] })) };
};

/** https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_BeginTransaction.html */
export const beginTransaction: Operation = async (request, { transactions, resolve }) => {
  refuseSchema(request);
  const caller = callerOf(request);
  const target = await locate(resolve, caller);
  return { transactionId: await orDatabaseError(transactions.begin(caller, target)) };
};

/** https://docs.aws.amazon.com/cli/latest/reference/rds-data/commit-transaction.html shows the status. */
export const commitTransaction: Operation = async (request, { transactions }) => {
  await transactions.commit(requiredText(request, 'transactionId'), callerOf(request));
  return { transactionStatus: 'Transaction Committed' };
};

/** https://docs.aws.amazon.com/cli/latest/reference/rds-data/rollback-transaction.html shows the status. */
export const rollbackTransaction: Operation = async (request, { transactions }) => {
  await transactions.rollback(requiredText(request, 'transactionId'), callerOf(request));
  return { transactionStatus: 'Rollback Complete' };
};

/** https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.differences.html */
export const executeSql: Operation = async () => {
  throw new DataApiError('BadRequestException', "The ExecuteSql operation isn't supported");
};

type Task<T> = (client: pg.ClientBase, signal: AbortSignal) => Promise<T>;

async function run<T>(request: Members, services: Services, limit: TimeLimit, task: Task<T>): Promise<T> {
  const { connections, transactions, resolve } = services;
  const caller = callerOf(request);
  const transactionId = optionalText(request, 'transactionId');
  const work = (client: pg.ClientBase, target: DatabaseTarget): Work<T> =>
    withinLimit(limit, { connections, target, client }, (signal) => task(client, signal));
  if (transactionId) return transactions.use(transactionId, caller, work);
  const target = await locate(resolve, caller);
  return orDatabaseError(connections.use(target, (client) => work(client, target)));
}

function callerOf(request: Members): Caller {
  const database = optionalText(request, 'database');
  return {
    resourceArn: requiredText(request, 'resourceArn'),
    secretArn: requiredText(request, 'secretArn'),
    ...(database ? { database } : {}),
  };
}

/**
 * An ARN that is not a cluster's is answered as in
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.troubleshooting.html (HttpEndpoint isn't
 * enabled), a secret that is not found as the service model says of SecretsErrorException.
 */
async function locate(resolve: Resolve, caller: Caller): Promise<DatabaseTarget> {
  const target = await resolve(caller);
  if (target === undefined) {
    const cluster = caller.resourceArn.split(':').at(-1);
    throw new DataApiError(
      'HttpEndpointNotEnabledException',
      `HttpEndpoint isn't enabled for cluster ${cluster}`,
    );
  }
  if (target === 'unknown-secret') {
    throw new DataApiError('SecretsErrorException', `The secret ${caller.secretArn} wasn't found`);
  }
  return target;
}

async function orDatabaseError<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw fromPostgres(error);
  }
}

function resultSetOptionsOf(request: Members) {
  const options = (request.resultSetOptions ?? {}) as Members;
  return {
    decimalReturnType: choice(options, 'decimalReturnType', ['STRING', 'DOUBLE_OR_LONG']),
    longReturnType: choice(options, 'longReturnType', ['LONG', 'STRING']),
  };
}

function toResponse(
  { command, updated, resultSet }: StatementResult,
  asJson: boolean,
  limits: Limits,
): Members {
  if (!resultSet) return { numberOfRecordsUpdated: updated, generatedFields: [] };
  if (asJson && command === 'SELECT') {
    return { numberOfRecordsUpdated: updated, formattedRecords: formatRecords(resultSet, limits) };
  }
  return { numberOfRecordsUpdated: updated, records: resultSet.records, columnMetadata: resultSet.columns };
}
