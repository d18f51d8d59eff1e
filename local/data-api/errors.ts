import { types } from 'node:util';
import { DatabaseError } from 'pg';

/**
 * The errors of the service and their HTTP statuses, as the service model in `@aws-sdk/client-rds-data` has them.
 * `ValidationException` and `SerializationException` are in no model: every AWS JSON service has them
 * (https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.differences.html shows the former).
 */
const statuses = {
  AccessDeniedException: 403,
  BadRequestException: 400,
  DatabaseErrorException: 400,
  DatabaseUnavailableException: 504,
  HttpEndpointNotEnabledException: 400,
  InternalServerErrorException: 500,
  SecretsErrorException: 400,
  SerializationException: 400,
  StatementTimeoutException: 400,
  TransactionNotFoundException: 404,
  UnknownOperationException: 404,
  UnsupportedResultException: 400,
  ValidationException: 400,
} as const;

export type DataApiErrorName = keyof typeof statuses;

/** The model gives these no message. */
const silent: readonly DataApiErrorName[] = ['DatabaseUnavailableException', 'InternalServerErrorException'];

/** An error that the caller of the Data API gets. */
export class DataApiError extends Error {
  constructor(
    override readonly name: DataApiErrorName,
    message: string,
    private readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }

  get status(): number {
    return statuses[this.name];
  }

  get body(): Readonly<Record<string, unknown>> {
    return silent.includes(this.name) ? {} : { message: this.message, ...this.members };
  }
}

/** SQLSTATEs of a server that stops, crashed or still starts. https://www.postgresql.org/docs/17/errcodes-appendix.html */
const unavailable = ['57P01', '57P02', '57P03'];

/** What node and `pg` say when there is no server or the connection broke. */
const connectionCodes = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH'];
const connectionMessages = /^(Connection terminated|Client has encountered a connection error|timeout e)/;

/** The error that the Data API answers with when PostgreSQL, or the way to it, fails with `cause`. */
export function fromPostgres(cause: unknown): DataApiError {
  if (cause instanceof DataApiError) return cause;
  if (cause instanceof DatabaseError) return fromServer(cause);
  if (isConnectionLoss(cause)) return new DataApiError('DatabaseUnavailableException', String(cause));
  return new DataApiError('InternalServerErrorException', String(cause));
}

function isConnectionLoss(cause: unknown): boolean {
  if (!types.isNativeError(cause)) return false;
  if ('errors' in cause && Array.isArray(cause.errors)) return cause.errors.every(isConnectionLoss);
  const { code } = cause as NodeJS.ErrnoException;
  return connectionMessages.test(cause.message) || connectionCodes.includes(code ?? '');
}

function fromServer(error: DatabaseError): DataApiError {
  if (unavailable.includes(error.code ?? '')) {
    return new DataApiError('DatabaseUnavailableException', error.message);
  }
  // PostgreSQL's own parser finds a second statement; only this place of it reports so.
  if (error.code === '42601' && error.routine === 'exec_parse_message') {
    return new DataApiError('ValidationException', "Multistatements aren't supported.");
  }
  return new DataApiError('DatabaseErrorException', serverMessage(error));
}

/**
 * PostgreSQL's error in one line, as Aurora Serverless v2 answers it: hint and position are there, detail and
 * context are not. Documented nowhere; taken from answers that were captured from the service, such as
 * `ERROR: relation "x" does not exist; Position: 15; SQLState: 42P01`.
 */
function serverMessage(error: DatabaseError): string {
  const parts = [`${error.severity ?? 'ERROR'}: ${error.message}`];
  if (error.hint) parts.push(`Hint: ${error.hint}`);
  if (error.position) parts.push(`Position: ${error.position}`);
  parts.push(`SQLState: ${error.code ?? 'XX000'}`);
  return parts.join('; ');
}
