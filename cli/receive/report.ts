import { signatureHeaders } from '../../domain/webhook-secrets';
import { readFields } from '../json';
import { printableLine } from '../terminal';
import type { ReceivedRequest } from './receiver';
import type { Verification } from './verification';

/** What is printed of a delivery; with `--json` one line each. */
export interface Report {
  /** When it arrived: ISO 8601, UTC. */
  readonly date: string;
  readonly verified: boolean;
  /** Why it is not verified. */
  readonly reason: string | null;
  readonly webhookId: string | null;
  readonly secretVersion: number | null;
  /** The `webhook-id`. */
  readonly deliveryId: string | null;
  /** How often this `webhook-id` has come, this time included. */
  readonly arrivals: number;
  readonly eventId: string | null;
  readonly kind: string | null;
  /** Since the event's date. */
  readonly ageMs: number | null;
  readonly from: string;
  /** Those that it is verified by, as far as they came. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it came, which is what was signed. */
  readonly body: string;
}

export function reportOf(
  { headers, body, from }: ReceivedRequest,
  verification: Verification,
  { arrivals, now }: { readonly arrivals: number; readonly now: number },
): Report {
  const { id, kind, date } = readFields(body);
  const by = verification.verified ? verification.by : undefined;
  const age = typeof date === 'string' ? now - Date.parse(date) : Number.NaN;
  return {
    date: new Date(now).toISOString(),
    verified: verification.verified,
    reason: verification.verified ? null : verification.reason,
    webhookId: by?.webhookId ?? null,
    secretVersion: by?.secretVersion ?? null,
    deliveryId: textOrNull(headers['webhook-id']),
    arrivals,
    eventId: textOrNull(id),
    kind: textOrNull(kind),
    ageMs: Number.isNaN(age) ? null : age,
    from,
    headers: Object.fromEntries(
      ['webhook-id', 'webhook-timestamp', ...signatureHeaders].flatMap((name) => {
        const value = headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    ),
    body,
  };
}

/** Three lines for a person. */
export function inWords(report: Report, status: number, bad: (text: string) => string): string {
  const { date, verified, reason, webhookId, deliveryId, arrivals, ageMs, from, body } = report;
  const verdict = verified
    ? `verified${webhookId ? ` by secret ${report.secretVersion} of ${webhookId}` : ''}`
    : bad(`NOT verified: ${reason}`);
  const facts = [
    `webhook-id ${printableLine(deliveryId ?? 'missing')}`,
    arrivals > 1 ? `arrival ${arrivals}` : '',
    `from ${from}`,
    ageMs === null ? '' : `${(ageMs / 1_000).toFixed(2)} s after the event`,
    `answered ${status}`,
  ];
  return [
    `${date.slice(11, 23)}  ${verdict}`,
    `  ${facts.filter(Boolean).join(', ')}`,
    `  ${printableLine(body)}`,
  ].join('\n');
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
