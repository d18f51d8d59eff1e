import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { AwsError } from '../network/aws-server';
import type { Borrowed, Connections, DatabaseTarget } from './connections';

/** A transaction is for calls with the cluster and the secret that began it. */
export interface Caller {
  readonly resourceArn: string;
  readonly secretArn: string;
}

interface Transaction extends Caller {
  readonly connection: Borrowed;
  /** Ends it when nothing has been heard of it. */
  readonly expiry: NodeJS.Timeout;
  busy: boolean;
}

/** The open transactions, each on a connection of its own while it lasts. */
export class Transactions {
  private readonly open = new Map<string, Transaction>();

  /** @param idleMs longest pause between two calls of a transaction */
  constructor(
    private readonly connections: Connections,
    private readonly idleMs: number,
  ) {}

  async begin({ resourceArn, secretArn }: Caller, target: DatabaseTarget): Promise<string> {
    const id = randomBytes(48).toString('base64');
    const connection = await this.connections.borrow(target, () => this.end(id));
    try {
      await connection.client.query('begin');
    } catch (error) {
      await connection.giveBack();
      throw error;
    }
    const expiry = setTimeout(() => this.end(id), this.idleMs).unref();
    this.open.set(id, { resourceArn, secretArn, connection, expiry, busy: false });
    return id;
  }

  /** @throws AwsError when the transaction is not there, or busy */
  async use<T>(id: string, caller: Caller, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const transaction = this.open.get(id);
    const { resourceArn, secretArn } = transaction ?? {};
    if (!transaction || resourceArn !== caller.resourceArn || secretArn !== caller.secretArn) {
      throw notFound(id, 'It has ended, or nothing was heard of it for three minutes.');
    }
    if (transaction.busy) {
      throw new AwsError('DatabaseErrorException', 'Transaction is still running a query');
    }
    transaction.busy = true;
    transaction.expiry.refresh();
    try {
      return await work(transaction.connection.client);
    } finally {
      transaction.busy = false;
      transaction.expiry.refresh();
    }
  }

  /** Commits. A transaction in which a statement failed is rolled back, and the caller told. */
  async commit(id: string, caller: Caller): Promise<void> {
    const { command } = await this.finish(id, caller, 'commit');
    // PostgreSQL names what it has done: https://www.postgresql.org/docs/17/sql-commit.html
    if (command === 'ROLLBACK') throw notFound(id, 'An error of a previous call has aborted it.');
  }

  async rollback(id: string, caller: Caller): Promise<void> {
    await this.finish(id, caller, 'rollback');
  }

  private finish(id: string, caller: Caller, statement: 'commit' | 'rollback'): Promise<pg.QueryResult> {
    return this.use(id, caller, (client) => client.query(statement).finally(() => this.end(id)));
  }

  private end(id: string): void {
    const transaction = this.open.get(id);
    this.open.delete(id);
    clearTimeout(transaction?.expiry);
    void transaction?.connection.giveBack();
  }
}

/** https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.troubleshooting.html */
const notFound = (id: string, reason: string) =>
  new AwsError('TransactionNotFoundException', `Transaction ${id} isn't found. ${reason}`, 404);
