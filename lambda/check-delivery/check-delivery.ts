import { timingSafeEqual } from 'node:crypto';
import { isId } from '../../domain/ids';
import { checkedSecretVersion, longestProbeAge, probe } from '../../domain/probe';
import { ok, type Result } from '../../domain/result';
import type { ProblemCode } from '../../domain/routes';
import { sign } from '../../domain/signature';
import { parseObject } from '../../domain/strict-json';
import { type Refusal, refuse } from '../shared/http';
import type { WebhookSecrets } from '../shared/webhook-secrets';

/** A delivery that arrived: the last value of each header. */
interface ReceivedDelivery {
  readonly webhookId: string;
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signatures: readonly (string | undefined)[];
  readonly body: string;
  /** The IPv4 address of the TCP connection's peer. */
  readonly source: string;
}

export interface CheckPorts {
  readonly publishedAddresses: readonly string[];
  /** The former region's after a promotion: it counts as published. */
  readonly formerAddress: string;
  readonly secrets: WebhookSecrets;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Why the delivery is refused; null if it is not. */
export type Checked = Result<null, Refusal<ProblemCode<'checkDelivery'>>>;

/** Milliseconds by which the signed time may differ from ours, as Standard Webhooks recommends. */
const tolerance = 5 * 60_000;

/** Milliseconds by which the clock of the function that sends a probe may be ahead of ours. */
const clockTolerance = 5_000;

/**
 * Checks a delivery to the environment's own receiver as any receiver should: signature, age, source address.
 *
 * For the probe the source comes last, so that `source_not_published` means a genuine, fresh delivery from another
 * address. Its secret is derived once and kept. For any other webhook the source comes first: a stranger causes no
 * call of KMS. Each refusal has a status of its own: a sender stores nothing else of a response.
 */
export async function checkDelivery(
  delivery: ReceivedDelivery,
  { publishedAddresses, formerAddress, secrets, now }: CheckPorts,
): Promise<Checked> {
  const { webhookId, body, source } = delivery;
  const isProbe = webhookId === probe.webhookId;
  const isPublished = [...publishedAddresses, formerAddress].includes(source);
  if (!isProbe && !isPublished) return refuse('source_not_published');
  if (!isId(webhookId, 'wh')) return refuse('signature_invalid');
  const secret = await secrets.secret(webhookId, checkedSecretVersion);
  if (!secret.ok) return refuse('secret_unavailable', secret.error.reason);
  if (!isSignedBy(secret.value, delivery)) return refuse('signature_invalid');
  const signedAt = Number(delivery.timestamp) * 1_000;
  const age = now() - Date.parse(String(parseObject(body)?.date));
  if (Math.abs(now() - signedAt) > tolerance) return refuse('delivery_too_old');
  // Negated, because a missing date's age is NaN.
  if (isProbe && !(age >= -clockTolerance && age <= longestProbeAge)) return refuse('delivery_too_old');
  return isPublished ? ok(null) : refuse('source_not_published');
}

function isSignedBy(secret: Uint8Array, delivery: ReceivedDelivery): boolean {
  const { id = '', timestamp = '', signatures, body } = delivery;
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  const expected = Buffer.from(sign({ id, timestamp: Number(timestamp), body }, [secret]));
  return signatures.every((signature = '') =>
    signature.split(' ').some((each) => {
      const found = Buffer.from(each);
      return found.length === expected.length && timingSafeEqual(found, expected);
    }),
  );
}
