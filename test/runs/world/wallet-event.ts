/** An event of these runs, without its data. */
export interface WalletEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: string;
  /** When it was sent: `toISOString`. */
  readonly date: string;
}

/** The event as JSON. Its data follow from the rest, so a receiver can tell whether a byte was changed. */
export function eventText({ id, organizationId, kind, date }: WalletEvent): string {
  // A number beyond 2^53 changes when it is parsed and written again.
  const data = `{"wallet":"wa-${id}","note":"ü \\"\\\\","amount":12345678901234567890}`;
  return `{"id":"${id}","organizationId":"${organizationId}","kind":"${kind}","date":"${date}","data":${data}}`;
}
