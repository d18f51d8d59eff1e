/** What the RDS Data API allows. Tests inject smaller ones. */
export interface Limits {
  /** Longest a call may run, ms. https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-timeouts.html */
  readonly statementMs: number;
  /** Longest pause between two calls of a transaction, ms. https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_BeginTransaction.html */
  readonly transactionIdleMs: number;
  /** Longest life of a transaction, ms. Source as above. */
  readonly transactionMs: number;
  /** Largest result: bytes of the values, and of PostgreSQL's headers before them. https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.limitations.html */
  readonly resultBytes: number;
  /** Largest row of a result, measured likewise. https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.troubleshooting.html */
  readonly rowBytes: number;
  /** Largest `formattedRecords`, in bytes. https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_ExecuteStatement.html */
  readonly formattedBytes: number;
  /** Largest request body, in bytes. https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_BatchExecuteStatement.html */
  readonly requestBytes: number;
}

const kib = 1024;
const mib = 1024 * kib;
const minute = 60_000;

export const documentedLimits: Limits = {
  statementMs: 45_000,
  transactionIdleMs: 3 * minute,
  transactionMs: 24 * 60 * minute,
  resultBytes: mib,
  rowBytes: 64 * kib,
  formattedBytes: 10 * mib,
  requestBytes: 4 * mib,
};
