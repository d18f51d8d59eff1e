import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type Answer, openTokenMaker, send, type WireRequest } from '../../support/api';
import type { LocalEnvironment } from '../../support/local-environment';
import type { Organization } from '../../support/organization';
import { newSeed } from '../harness/options';
import { describeRequest, type GeneratedRequest, generatedRequest, isDue, toWire } from './generated-request';

/** Requests under way at once, each for another organization. */
const width = 20;

export interface Run {
  /** How many requests to generate. */
  readonly requests: number;
  /** @default - a new one */
  readonly seed?: number;
  /** Of a found case: these are held, and none is generated. */
  readonly failing?: string;
  /** Called after each batch. */
  readonly onProgress?: (requests: number) => void;
}

export interface Findings {
  readonly seed: number;
  readonly requests: number;
  /** How many first answers there were of each status. */
  readonly statuses: Readonly<Record<number, number>>;
}

/**
 * Sends generated requests to a local environment and holds each answer: no 5xx, a 200 exactly where it is due, and
 * every body in the documented shape. What was answered with 200 is sent again, and refused as a replay.
 *
 * @throws RequestsFailed with the case that failed
 */
export async function holdRequests(
  local: LocalEnvironment,
  environment: { readonly name: string; readonly tokenIssuer: string },
  { requests, seed = newSeed(), failing, onProgress }: Run,
): Promise<Findings> {
  const baseUrl = local.outputs(environment.name).ApiBaseUrl ?? '';
  const tokens = await openTokenMaker(local, environment.name, environment.tokenIssuer);
  const statuses: Record<number, number> = {};
  const organizations: Organization[] = [];
  let sent = 0;
  let wrong: readonly GeneratedRequest[] = [];

  async function hold(request: GeneratedRequest, index: number): Promise<void> {
    const organization =
      organizations[index] ?? (await local.walletJson<Organization>(environment.name, 'seed'));
    organizations[index] = organization;
    const wire = await toWire(request, organization, tokens);
    const answer = await sendPatiently(baseUrl, wire);
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    if (answer.status === 200) {
      delete organizations[index];
      const again = await sendPatiently(baseUrl, wire);
      if (again.status !== 403 || again.body.code !== 'user_action_replayed') {
        throw new Error(`${again.status} ${again.body.code ?? ''} for a user action that was used before`);
      }
    }
    if (answer.status >= 500) throw new Error(`${answer.status} for: ${describeRequest(request)}`);
    if ((answer.status === 200) !== isDue(request)) {
      throw new Error(
        `${answer.status} ${answer.body.code ?? ''} for: ${describeRequest(request) || 'a deletion that is due'}`,
      );
    }
  }

  if (failing !== undefined) {
    const again = JSON.parse(failing) as readonly GeneratedRequest[];
    await Promise.all(again.map(hold));
    return { seed, requests: again.length, statuses };
  }

  const batch = fc.array(generatedRequest, { minLength: width, maxLength: width });
  const property = fc.asyncProperty(batch, async (generated) => {
    const held = await Promise.allSettled(generated.map(hold));
    wrong = generated.filter((_, index) => held[index]?.status === 'rejected');
    const failed = held.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    sent += generated.length;
    onProgress?.(sent);
  });
  const details = await fc.check(property, {
    seed,
    numRuns: Math.ceil(requests / width),
    endOnFailure: true,
  });
  if (details.errorInstance instanceof StillThrottled) throw details.errorInstance;
  if (details.failed) {
    const found = { seed, path: details.counterexamplePath ?? '', failing: JSON.stringify(wrong) };
    throw new RequestsFailed(found, `${fc.defaultReportMessage(details)}\n${details.errorInstance}`);
  }
  return { seed, requests: sent, statuses };
}

/** What was found by a run. */
export interface FoundCase {
  /** Where fast-check finds the batch again, while nothing that generates requests has changed. */
  readonly seed: number;
  readonly path: string;
  /** The requests of the batch whose answers were wrong: JSON text. */
  readonly failing: string;
}

export class RequestsFailed extends Error {
  override readonly name = 'RequestsFailed';
  constructor(
    readonly found: FoundCase,
    message: string,
  ) {
    super(message);
  }
}

class StillThrottled extends Error {
  override readonly name = 'StillThrottled';
}

/**
 * A throttled request was not looked at: it is sent again.
 *
 * @param patience milliseconds
 * @throws StillThrottled when the patience has ended, which is no fault of the request
 */
export async function sendPatiently(baseUrl: string, wire: WireRequest, patience = 30_000): Promise<Answer> {
  const deadline = Date.now() + patience;
  for (;;) {
    const answer = await send(baseUrl, wire);
    if (answer.status !== 429) return answer;
    if (Date.now() >= deadline) {
      throw new StillThrottled(
        `Nothing but 429 within ${patience / 1_000} s: the rate is used up, or stuck.`,
      );
    }
    await sleep(50);
  }
}
