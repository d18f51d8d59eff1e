/** Where the webhook origin stands, or shall stand. */
export interface Place {
  /** A zone's number, or `none`. */
  readonly zone: string;
  /** Whether webhooks come from the reserve address, not from the one address. */
  readonly reserve: boolean;
}

/** The zone of an origin whose address is on no gateway. */
export const noZone = 'none';

export const isSamePlace = (one: Place, other: Place): boolean =>
  one.zone === other.zone && one.reserve === other.reserve;

/** `zone 2`, or `zone 2 on the reserve address`. */
export const placeInWords = ({ zone, reserve }: Place): string =>
  `zone ${zone}${reserve && zone !== noZone ? ' on the reserve address' : ''}`;
