import type { WebhookOrigin } from './allow-list';
import { readCurrentAllowList } from './current-allow-list';
import { toNumber } from './ranges';

/** An address that a list has to admit, or should. */
export interface ExpectedAddress {
  readonly environment: string;
  readonly cidr: string;
  /** Webhooks come from it in an announced emergency only. Absent: always. */
  readonly reserve?: true;
}

/** What a receiver's present list has of the addresses that it should have. */
export interface AllowListComparison {
  /** Nothing is missing and nothing stale. Broader entries do not count, nor do missing reserves. */
  readonly same: boolean;
  readonly present: readonly ExpectedAddress[];
  readonly missing: readonly ExpectedAddress[];
  /** Without them the list does until an emergency. Absent: no environment has a reserve. */
  readonly missingReserves?: readonly ExpectedAddress[];
  /** Entries that admit none of the expected addresses. */
  readonly stale: readonly string[];
  /** Entries that admit expected addresses and others besides. */
  readonly broader: readonly { readonly entry: string; readonly covers: readonly ExpectedAddress[] }[];
}

/** Compares a receiver's list, in any of the formats or plain, with the addresses it should admit. */
export function compareAllowList(list: string, origins: readonly WebhookOrigin[]): AllowListComparison {
  const entries = readCurrentAllowList(list);
  const expected = origins.flatMap(expectedOf);
  const admitted = expected.map(({ number, address }) => ({
    address,
    present: entries.some(({ first, last }) => first <= number && number <= last),
  }));
  const judged = entries.map(({ text, first, last }) => ({
    entry: text,
    single: first === last,
    covers: expected.filter(({ number }) => first <= number && number <= last).map(({ address }) => address),
  }));

  const absent = admitted.filter(({ present }) => !present).map(({ address }) => address);
  const missing = absent.filter(({ reserve }) => !reserve);
  const stale = judged.filter(({ covers }) => covers.length === 0).map(({ entry }) => entry);
  return {
    same: missing.length === 0 && stale.length === 0,
    present: admitted.filter(({ present }) => present).map(({ address }) => address),
    missing,
    ...(origins.some(({ reserve }) => reserve) && {
      missingReserves: absent.filter(({ reserve }) => reserve),
    }),
    stale,
    broader: judged
      .filter(({ single, covers }) => !single && covers.length > 0)
      .map(({ entry, covers }) => ({ entry, covers })),
  };
}

const expectedOf = ({
  environment,
  address,
  reserve,
}: WebhookOrigin): { readonly number: number; readonly address: ExpectedAddress }[] => [
  { number: toNumber(address), address: { environment, cidr: `${address}/32` } },
  ...(reserve
    ? [{ number: toNumber(reserve), address: { environment, cidr: `${reserve}/32`, reserve: true } as const }]
    : []),
];
