import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { accessKeyIdOf } from '../iam/access-key';
import { refuseForeign } from '../network/foreign-requests';
import { Connections, type Resolve } from './connections';
import { DataApiError } from './errors';
import { parseJson, toJson } from './json';
import { documentedLimits, type Limits } from './limits';
import * as operations from './operations';
import { asMembers, type Members } from './requests';
import { Transactions } from './transactions';

export interface DataApiOptions {
  readonly resolve: Resolve;
  /** Says why a call is refused. @default - no call is */
  readonly authorize?: ((call: DataApiCall) => string | undefined) | undefined;
  /** @default what AWS documents */
  readonly limits?: Partial<Limits>;
  /** Milliseconds since any moment; transactions expire by it. @default Date.now */
  readonly now?: () => number;
}

/** Who asks for what. */
export interface DataApiCall {
  readonly accessKeyId: string;
  /** Such as `rds-data:ExecuteStatement`. */
  readonly action: string;
  readonly resourceArn: string;
  readonly secretArn: string;
}

export interface DataApi {
  /** The endpoint for `@aws-sdk/client-rds-data`. */
  readonly url: string;
  /** Ends the server, every connection to PostgreSQL and with them the open transactions. */
  close(): Promise<void>;
}

/** Paths of the service model in `@aws-sdk/client-rds-data`. */
const routes: Readonly<Record<string, readonly [name: string, operations.Operation]>> = {
  '/Execute': ['ExecuteStatement', operations.executeStatement],
  '/BatchExecute': ['BatchExecuteStatement', operations.batchExecuteStatement],
  '/BeginTransaction': ['BeginTransaction', operations.beginTransaction],
  '/CommitTransaction': ['CommitTransaction', operations.commitTransaction],
  '/RollbackTransaction': ['RollbackTransaction', operations.rollbackTransaction],
  '/ExecuteSql': ['ExecuteSql', operations.executeSql],
};

/**
 * Starts a local RDS Data API (REST, JSON) in front of real PostgreSQL servers, on 127.0.0.1. Signatures of requests
 * are not verified, and web pages refused. What is covered: docs/data-api-conformance.md.
 */
export async function startDataApi(options: DataApiOptions): Promise<DataApi> {
  const { resolve, authorize, limits, now = Date.now } = options;
  const allLimits: Limits = { ...documentedLimits, ...limits };
  const connections = new Connections();
  const transactions = new Transactions(connections, allLimits, now);
  const services = { connections, transactions, resolve, limits: allLimits };

  const server = http.createServer((request, response) => {
    if (refuseForeign(request, response)) return;
    void answer(request, services, authorize).then(({ status, headers, body }) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        'x-amzn-requestid': randomUUID(),
        ...headers,
      });
      response.end(toJson(body));
    });
  });
  // An idle connection is the client's to close: closed here, it may be while the client sends its next request.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await transactions.close();
      await connections.close();
      await closed;
    },
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Members;
}

async function answer(
  request: http.IncomingMessage,
  services: operations.Services,
  authorize: DataApiOptions['authorize'],
): Promise<Answer> {
  try {
    const [name, operation] = (request.method === 'POST' && routes[request.url ?? '']) || [];
    if (!operation) throw new DataApiError('UnknownOperationException', `${request.method} ${request.url}`);
    const input = await read(request, services.limits.requestBytes);
    const refusal = authorize?.({
      accessKeyId: accessKeyIdOf(request.headers.authorization),
      action: `rds-data:${name}`,
      resourceArn: String(input.resourceArn),
      secretArn: String(input.secretArn),
    });
    if (refusal !== undefined) throw new DataApiError('AccessDeniedException', refusal);
    return { status: 200, headers: {}, body: await operation(input, services) };
  } catch (cause) {
    const error =
      cause instanceof DataApiError ? cause : new DataApiError('InternalServerErrorException', String(cause));
    return { status: error.status, headers: { 'x-amzn-errortype': error.name }, body: error.body };
  }
}

async function read(request: http.IncomingMessage, maximumBytes: number): Promise<Members> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maximumBytes) chunks.push(chunk);
  }
  if (bytes > maximumBytes) {
    throw new DataApiError(
      'BadRequestException',
      `The request exceeds the size limit of ${maximumBytes} bytes`,
    );
  }
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return asMembers(parseJson(text), 'request');
  } catch (cause) {
    if (cause instanceof DataApiError) throw cause;
    throw new DataApiError('SerializationException', 'The request is not JSON');
  }
}
