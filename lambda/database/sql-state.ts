/**
 * Whether PostgreSQL's error means that the database is away for a while rather than that the statement is wrong:
 * connection exceptions (class 08), too many connections (53300), shutdown and recovery (57P01 to 57P05), a statement
 * that ran out of time (57014) or waited too long for a lock (55P03), a deadlock (40P01), a writer that has become a
 * reader in a failover (25006), a sign-in that is refused (class 28) while a password or a grant is being changed.
 *
 * @see https://www.postgresql.org/docs/17/errcodes-appendix.html
 */
export function isUnavailable(sqlState: string): boolean {
  return /^(08|28|57P0)/.test(sqlState) || transientStates.has(sqlState);
}

const transientStates = new Set(['53300', '57014', '55P03', '40P01', '25006']);
