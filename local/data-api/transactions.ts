import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Borrowed, Connections, DatabaseTarget, Work } from './connections';
import { DataApiError, fromPostgres } from './errors';
import type { Limits } from './limits';

/** A transaction is for calls with the cluster and the secret that began it. */
export interface Caller {
  readonly resourceArn: string;
  readonly secretArn: string;
  readonly database?: string;
}

interface Transaction {
  readonly caller: Caller;
  readonly target: DatabaseTarget;
  readonly connection: Borrowed;
  readonly begunAt: number;
  usedAt: number;
  busy: boolean;
}

/** Why a transaction is not there. https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.troubleshooting.html */
const reasons = {
  expired: 'Transaction may be expired.',
  ended: 'One previous call resulted in a termination of your transaction.',
  aborted: 'Transaction has been aborted due to an error from a previous call.',
} as const;

/** The number of ended transactions that keep their reason; older ones count as expired. */
const rememberedReasons = 10_000;
const sweepMs = 1_000;

/** The open transactions, each on a connection of its own while it lasts. */
export class Transactions {
  private readonly open = new Map<string, Transaction>();
  private readonly gone = new Map<string, keyof typeof reasons>();
  private readonly sweeper = setInterval(() => this.sweep(), sweepMs).unref();

  constructor(
    private readonly connections: Connections,
    private readonly limits: Limits,
    private readonly now: () => number,
  ) {}

  async begin(caller: Caller, target: DatabaseTarget): Promise<string> {
    const id = randomBytes(48).toString('base64');
    const connection = await this.connections.begin(target, () => this.drop(id, 'aborted'));
    this.open.set(id, { caller, target, connection, begunAt: this.now(), usedAt: this.now(), busy: false });
    return id;
  }

  /**
   * Does `work` in the transaction. A second call while it runs is refused.
   *
   * After a commit or rollback that was sent as a statement the id stays known: AWS names CommitTransaction,
   * RollbackTransaction, expiry and errors as a transaction's end, and mappers send both
   * (https://github.com/markusahlstrand/knex-data-api-client/issues/109). PostgreSQL commits each statement in between.
   */
  async use<T>(
    id: string,
    caller: Caller,
    work: (client: pg.ClientBase, target: DatabaseTarget) => Work<T>,
  ): Promise<T> {
    const transaction = this.claim(id, caller);
    const { client } = transaction.connection;
    const { answer, free } = work(client, transaction.target);
    const failed = answer.then(
      () => false,
      () => true,
    );
    void Promise.all([failed, free]).then(([hasFailed]) => {
      transaction.busy = false;
      transaction.usedAt = this.now();
      // An error with which the transaction is over, such as that of a commit.
      if (hasFailed && client.getTransactionStatus() === 'I') this.drop(id, 'ended');
    });
    return answer;
  }

  /** Commits. A transaction in which a statement failed is rolled back, and the caller told. */
  async commit(id: string, caller: Caller): Promise<void> {
    const { client } = this.claim(id, caller).connection;
    const failed = client.getTransactionStatus() === 'E';
    await this.finish(id, client, failed ? 'rollback' : 'commit');
    if (failed) throw notFound(id, 'aborted');
  }

  async rollback(id: string, caller: Caller): Promise<void> {
    await this.finish(id, this.claim(id, caller).connection.client, 'rollback');
  }

  /** Ends every transaction; PostgreSQL rolls them back. */
  async close(): Promise<void> {
    clearInterval(this.sweeper);
    const running = [...this.open.values()];
    const busy = running.filter((transaction) => transaction.busy);
    await Promise.allSettled(
      busy.map(({ target, connection }) => this.connections.cancel(target, connection.client)),
    );
    for (const { connection } of running) connection.end();
  }

  private async finish(id: string, client: pg.ClientBase, statement: 'commit' | 'rollback'): Promise<void> {
    try {
      await client.query(statement);
      this.drop(id, 'ended');
    } catch (error) {
      this.drop(id, 'aborted');
      throw fromPostgres(error);
    }
  }

  private claim(id: string, caller: Caller): Transaction {
    this.sweep();
    const transaction = this.open.get(id);
    if (!transaction || !sameOwner(transaction.caller, caller)) {
      throw notFound(id, this.gone.get(id) ?? 'expired');
    }
    if (caller.database !== undefined && caller.database !== transaction.target.database) {
      throw new DataApiError(
        'BadRequestException',
        'Database name is not the same as that of the transaction',
      );
    }
    if (transaction.busy) {
      throw new DataApiError('DatabaseErrorException', 'Transaction is still running a query');
    }
    transaction.busy = true;
    transaction.usedAt = this.now();
    return transaction;
  }

  private sweep(): void {
    const now = this.now();
    for (const [id, { begunAt, usedAt, busy }] of this.open) {
      const over =
        now - usedAt >= this.limits.transactionIdleMs || now - begunAt >= this.limits.transactionMs;
      if (over && !busy) this.drop(id, 'expired');
    }
  }

  /** Its connection is rolled back, if need be, and free for the next one. */
  private drop(id: string, reason: keyof typeof reasons): void {
    const transaction = this.open.get(id);
    if (!transaction) return;
    this.open.delete(id);
    void transaction.connection.giveBack();
    this.gone.set(id, reason);
    for (const oldest of this.gone.keys()) {
      if (this.gone.size <= rememberedReasons) break;
      this.gone.delete(oldest);
    }
  }
}

function sameOwner(one: Caller, other: Caller): boolean {
  return one.resourceArn === other.resourceArn && one.secretArn === other.secretArn;
}

function notFound(id: string, reason: keyof typeof reasons): DataApiError {
  return new DataApiError(
    'TransactionNotFoundException',
    `Transaction ${id} isn't found. ${reasons[reason]}`,
  );
}
