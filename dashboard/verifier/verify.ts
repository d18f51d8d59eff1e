import { changedBodies } from './changed-bodies';
import { type PastedHeaders, readHeaders } from './headers';
import { readSecret } from './secret';
import { readSignatures, sameBytes, sign } from './signatures';
import { inWords, problemOfTimestamp, tolerance } from './timestamp';

/** A delivery as it was pasted. */
export interface PastedDelivery {
  readonly headers: string;
  /** As it came, before anything parsed it. */
  readonly body: string;
  readonly secret: string;
}

export interface Verification {
  /**
   * `holds`; `stale`: holds, but a receiver refuses it for its age by now; `refused`: does not hold;
   * `incomplete`: something is missing or malformed, so that nothing could be computed.
   */
  readonly verdict: 'holds' | 'stale' | 'refused' | 'incomplete';
  readonly title: string;
  /** What led there, most important first: each a sentence or more. */
  readonly details: readonly string[];
}

/**
 * Verifies a delivery as its receiver has to, and says why it does not hold.
 *
 * @param signatureHeaders the names of the header
 * @param now milliseconds since 1970
 */
export async function verify(
  pasted: PastedDelivery,
  signatureHeaders: readonly string[],
  now: number,
): Promise<Verification> {
  const headers = readHeaders(pasted.headers);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signature = signatureOf(headers, signatureHeaders);
  const secret = readSecret(pasted.secret);
  const problems = [id, timestamp, signature, secret].flatMap((part) => (part.ok ? [] : [part.problem]));
  const formProblem = timestamp.ok ? problemOfTimestamp(timestamp.value) : undefined;
  if (formProblem) problems.push(formProblem);
  if (pasted.body === '') problems.push('The body is missing.');
  if (!id.ok || !timestamp.ok || !signature.ok || !secret.ok || problems.length > 0) {
    return { verdict: 'incomplete', title: 'It cannot be verified', details: problems };
  }

  const { known, problems: others } = readSignatures(signature.value);
  if (known.length === 0) return { verdict: 'incomplete', title: 'It cannot be verified', details: others };
  const holdsFor = async (body: string): Promise<boolean> => {
    const expected = await sign(secret.key, { id: id.value, timestamp: timestamp.value, body });
    return known.some((each) => sameBytes(each, expected));
  };
  if (await holdsFor(pasted.body)) return ageVerdict(Number(timestamp.value), now, signature.names, others);
  return mismatch(pasted.body, holdsFor, others);
}

function ageVerdict(
  timestamp: number,
  now: number,
  names: readonly string[],
  others: readonly string[],
): Verification {
  const age = Math.floor(now / 1000) - timestamp;
  const details = [`Found in ${names.join(', ')}.`, ...others];
  if (Math.abs(age) <= tolerance) {
    return {
      verdict: 'holds',
      title: 'The signature holds',
      details: [`The delivery is ${inWords(Math.max(age, 0))} old.`, ...details],
    };
  }
  const since = age > 0 ? `${inWords(age)} old` : `${inWords(-age)} ahead of this device’s clock`;
  return {
    verdict: 'stale',
    title: `The signature holds, but the delivery is ${since}`,
    details: [
      `A receiver has to refuse a timestamp that is more than ${tolerance / 60} minutes off, for it may be a replay. If you only paste it later than that, nothing is wrong; otherwise look at the clocks.`,
      ...details,
    ],
  };
}

async function mismatch(
  body: string,
  holdsFor: (body: string) => Promise<boolean>,
  others: readonly string[],
): Promise<Verification> {
  for (const changed of changedBodies(body)) {
    if (await holdsFor(changed.body)) {
      return {
        verdict: 'refused',
        title: 'The signature does not hold: the body was changed',
        details: [
          `It holds for the body ${changed.how}. Secret, id and timestamp are right. Verify the bytes as they arrive, before anything parses or prints them.`,
          ...others,
        ],
      };
    }
  }
  return {
    verdict: 'refused',
    title: 'The signature does not hold',
    details: [
      'The body, the id or the timestamp was changed, or the secret is another one. Which of them, no signature can tell.',
      'Is the body the one that arrived with these very headers, byte by byte?',
      'Is it the secret of this webhook in this environment? 24 hours after a rotation, the old one signs no more.',
      ...others,
    ],
  };
}

type Found<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly problem: string };

function headerOf(headers: PastedHeaders, name: string): Found<{ value: string }> {
  const [value, ...more] = headers.get(name) ?? [];
  if (!value) return { ok: false, problem: `The header ${name} is missing.` };
  if (more.length > 0)
    return { ok: false, problem: `The header ${name} is there more than once, with different values.` };
  return { ok: true, value };
}

/** All of the headers carry the same value, and one of them is enough. */
function signatureOf(
  headers: PastedHeaders,
  names: readonly string[],
): Found<{ value: string; names: readonly string[] }> {
  const found = names.filter((name) => headers.get(name.toLowerCase())?.some(Boolean));
  const values = [...new Set(found.flatMap((name) => headers.get(name.toLowerCase()) ?? []))];
  const [value] = values;
  if (value === undefined)
    return { ok: false, problem: `No signature header is there: ${names.join(', ')}.` };
  if (values.length > 1)
    return {
      ok: false,
      problem: `${found.join(', ')} differ from each other. They are sent with one value: something changed them on the way.`,
    };
  return { ok: true, value, names: found };
}
