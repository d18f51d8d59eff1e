/** The cell of a table that says where an environment's webhooks come from. Absent addresses are left out. */
export const originCell = (address: string | undefined, reserve: string | undefined): string =>
  [address, reserve && `reserve ${reserve}`].filter(Boolean).join(', ');

/** The cell that says what an environment is not to be relied on for. */
export const noticesCell = (notices: {
  readonly deprecated: boolean;
  readonly testFundsOnly: boolean;
}): string =>
  [notices.deprecated && 'deprecated', notices.testFundsOnly && 'test funds only'].filter(Boolean).join(': ');
