export interface StormEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: string;
  /** When it was sent: `toISOString`. */
  readonly date: string;
}

/** The text of a storm's event, which follows from the rest of it: a receiver can tell whether a byte was changed. */
export function stormEvent({ id, organizationId, kind, date }: StormEvent): string {
  // A number beyond 2^53 would change if it were written anew.
  const data = `{"wallet":"wa-${id}","note":"ü \\"\\\\","amount":12345678901234567890}`;
  return `{"id":"${id}","organizationId":"${organizationId}","kind":"${kind}","date":"${date}","data":${data}}`;
}

/** The kind of an event, and of the receivers that want it, when there are so many kinds. */
export const kindOf = (index: number, kinds: number): string => `storm.${index % kinds}`;
