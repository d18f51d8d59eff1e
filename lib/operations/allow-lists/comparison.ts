import type { WebhookOrigin } from './allow-list';
import { readCurrentAllowList } from './current-allow-list';
import { toNumber } from './ranges';

/** An address that a list has to admit. */
export interface ExpectedAddress {
  readonly environment: string;
  readonly cidr: string;
}

/** What a receiver's present list has of the addresses that it should have. */
export interface AllowListComparison {
  /** Nothing is missing and nothing stale. Broader entries do not count. */
  readonly same: boolean;
  readonly present: readonly ExpectedAddress[];
  readonly missing: readonly ExpectedAddress[];
  /** Entries that admit none of the expected addresses. */
  readonly stale: readonly string[];
  /** Entries that admit expected addresses and others besides. */
  readonly broader: readonly { readonly entry: string; readonly covers: readonly ExpectedAddress[] }[];
}

/** Compares a receiver's list, in any of the formats or plain, with the addresses it should admit. */
export function compareAllowList(list: string, origins: readonly WebhookOrigin[]): AllowListComparison {
  const entries = readCurrentAllowList(list);
  const expected = origins.map(({ environment, address }) => ({
    number: toNumber(address),
    address: { environment, cidr: `${address}/32` },
  }));
  const admitted = expected.map(({ number, address }) => ({
    address,
    present: entries.some(({ first, last }) => first <= number && number <= last),
  }));
  const judged = entries.map(({ text, first, last }) => ({
    entry: text,
    single: first === last,
    covers: expected.filter(({ number }) => first <= number && number <= last).map(({ address }) => address),
  }));

  const missing = admitted.filter(({ present }) => !present).map(({ address }) => address);
  const stale = judged.filter(({ covers }) => covers.length === 0).map(({ entry }) => entry);
  return {
    same: missing.length === 0 && stale.length === 0,
    present: admitted.filter(({ present }) => present).map(({ address }) => address),
    missing,
    stale,
    broader: judged
      .filter(({ single, covers }) => !single && covers.length > 0)
      .map(({ entry, covers }) => ({ entry, covers })),
  };
}
