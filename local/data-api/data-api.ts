import type pg from 'pg';
import { AwsError, type AwsService, type JsonObject, requireAllowed, structure } from '../network/aws-server';
import { Connections, type DatabaseTarget } from './connections';
import { bind, runStatement, toAwsError } from './statements';
import { type Caller, Transactions } from './transactions';

export interface DataApiOptions {
  /**
   * Finds the database of a request: `undefined` when no cluster has this ARN, `'unknown-secret'` when no secret has.
   * Without `database` in the request it is the cluster's default database.
   */
  readonly resolve: (
    request: Caller & { readonly database?: string },
  ) => DatabaseTarget | 'unknown-secret' | undefined;
  /** Says why a call is refused. @default - no call is */
  readonly authorize?: (call: DataApiCall) => string | undefined;
  /** Milliseconds for a statement. @default 45,000: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-timeouts.html */
  readonly statementMs?: number;
  /** Milliseconds between two calls of a transaction. @default 180,000: https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_BeginTransaction.html */
  readonly transactionIdleMs?: number;
}

/** Who asks for what. */
export interface DataApiCall extends Caller {
  readonly accessKeyId: string;
  /** Such as `rds-data:ExecuteStatement`. */
  readonly action: string;
}

export interface DataApi {
  readonly serve: AwsService;
  /** Ends every connection to PostgreSQL and with them the open transactions. */
  close(): Promise<void>;
}

/** Paths of the service model in `@aws-sdk/client-rds-data`, and the members of each request that are supported. */
const operations: Readonly<Record<string, { readonly name: string; readonly members: readonly string[] }>> = {
  '/Execute': {
    name: 'ExecuteStatement',
    members: ['database', 'sql', 'parameters', 'includeResultMetadata', 'transactionId'],
  },
  '/BeginTransaction': { name: 'BeginTransaction', members: ['database'] },
  '/CommitTransaction': { name: 'CommitTransaction', members: ['transactionId'] },
  '/RollbackTransaction': { name: 'RollbackTransaction', members: ['transactionId'] },
};

/** Characters. https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_ExecuteStatement.html */
const lengths = { resourceArn: 100, secretArn: 100, sql: 65_536, database: 64, transactionId: 192 };

/**
 * The RDS Data API in front of real PostgreSQL servers, for what the product and its operators send: one statement, with
 * scalars, alone or in a transaction. Anything else is refused by name.
 */
export function createDataApi(options: DataApiOptions): DataApi {
  const { resolve, authorize, statementMs = 45_000, transactionIdleMs = 180_000 } = options;
  const connections = new Connections(statementMs);
  const transactions = new Transactions(connections, transactionIdleMs);

  async function execute(request: JsonObject, caller: Caller): Promise<JsonObject> {
    const statement = bind(required(request, 'sql'), request.parameters ?? undefined);
    const transactionId = optional(request, 'transactionId');
    const run = (client: pg.ClientBase) =>
      runStatement(client, statement, request.includeResultMetadata === true);
    if (transactionId !== undefined) return transactions.use(transactionId, caller, run);
    const { client, giveBack } = await connections.borrow(locate(request, caller));
    return run(client).finally(() => void giveBack());
  }

  function locate(request: JsonObject, caller: Caller): DatabaseTarget {
    const database = optional(request, 'database');
    const target = resolve({ ...caller, ...(database !== undefined && { database }) });
    if (target === undefined) {
      const cluster = caller.resourceArn.split(':').at(-1);
      throw new AwsError(
        'HttpEndpointNotEnabledException',
        `HttpEndpoint isn't enabled for cluster ${cluster}`,
      );
    }
    if (target === 'unknown-secret') {
      throw new AwsError('SecretsErrorException', `The secret ${caller.secretArn} wasn't found`);
    }
    return target;
  }

  const answers: Readonly<Record<string, (request: JsonObject, caller: Caller) => Promise<JsonObject>>> = {
    ExecuteStatement: execute,
    BeginTransaction: async (request, caller) => ({
      transactionId: await transactions.begin(caller, locate(request, caller)),
    }),
    // https://docs.aws.amazon.com/cli/latest/reference/rds-data/commit-transaction.html shows the status.
    async CommitTransaction(request, caller) {
      await transactions.commit(required(request, 'transactionId'), caller);
      return { transactionStatus: 'Transaction Committed' };
    },
    async RollbackTransaction(request, caller) {
      await transactions.rollback(required(request, 'transactionId'), caller);
      return { transactionStatus: 'Rollback Complete' };
    },
  };

  return {
    async serve({ path, input, accessKeyId }) {
      const { name, members } = operations[path] ?? {};
      const answer = answers[name ?? ''];
      if (!name || !members || !answer) {
        throw new AwsError('UnknownOperationException', `${path} of the RDS Data API is not supported`, 404);
      }
      const request = structure(input);
      const caller = {
        resourceArn: required(request, 'resourceArn'),
        secretArn: required(request, 'secretArn'),
      };
      requireAllowed(authorize?.({ ...caller, accessKeyId, action: `rds-data:${name}` }));
      for (const [member, value] of Object.entries(request)) {
        if (value === null || member in caller || members.includes(member)) continue;
        throw new AwsError('ValidationException', `${member} of ${name} is not supported`);
      }
      const started = performance.now();
      return { output: await answer(request, caller).catch((error) => refuse(error, started)) };
    },
    close: () => connections.close(),
  };

  function refuse(error: unknown, started: number): never {
    const cancelled = (error as { code?: string }).code === '57014';
    if (cancelled && performance.now() - started >= statementMs) {
      throw new AwsError('StatementTimeoutException', 'Request timed out');
    }
    throw toAwsError(error);
  }
}

function required(request: JsonObject, name: keyof typeof lengths): string {
  const text = optional(request, name);
  if (text === undefined) throw new AwsError('ValidationException', `${name} must be given`);
  return text;
}

function optional(request: JsonObject, name: keyof typeof lengths): string | undefined {
  const value = request[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw new AwsError('SerializationException', `${name} is not a string`);
  if (value.length <= lengths[name]) return value;
  throw new AwsError('ValidationException', `${name} is longer than ${lengths[name]} characters`);
}
