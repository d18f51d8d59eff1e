import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type Answer, openTokenMaker, send, type WireRequest } from './api';
import {
  describeRequest,
  type GeneratedRequest,
  generatedRequest,
  isDue,
  toWire,
} from './generated-requests';
import type { LocalEnvironment } from './local-environment';
import type { Organization } from './organization';

/** Requests that are under way at once, each for an organization of its own. */
const width = 20;

export interface Run {
  /** How many requests to generate. */
  readonly requests: number;
  /** @default - a new one */
  readonly seed?: number;
  /** With a seed: the one case that fast-check found under this path. */
  readonly path?: string;
  /** Called after each batch. */
  readonly onProgress?: (requests: number) => void;
}

export interface Findings {
  readonly seed: number;
  readonly requests: number;
  /** How many answers there were of each status. */
  readonly statuses: Readonly<Record<number, number>>;
}

/**
 * Sends generated requests to a local environment and holds each answer: no 5xx, a 200 exactly where it is due, and
 * every body in the documented shape.
 *
 * @throws RequestsFailed with the case that failed
 */
export async function holdRequests(
  local: LocalEnvironment,
  environment: { readonly name: string; readonly tokenIssuer: string },
  { requests, seed = Date.now() % 2 ** 31, path, onProgress }: Run,
): Promise<Findings> {
  const baseUrl = local.outputs(environment.name).ApiBaseUrl ?? '';
  const tokens = await openTokenMaker(local, environment.name, environment.tokenIssuer);
  const statuses: Record<number, number> = {};
  const organizations: Organization[] = [];
  let sent = 0;

  async function hold(request: GeneratedRequest, index: number): Promise<void> {
    const organization =
      organizations[index] ?? (await local.walletJson<Organization>(environment.name, 'seed'));
    organizations[index] = organization;
    const wire = await toWire(request, organization, tokens);
    const answer = await sendPatiently(baseUrl, wire);
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    if (answer.status === 200) delete organizations[index];
    if (answer.status >= 500) throw new Error(`${answer.status} for: ${describeRequest(request)}`);
    if ((answer.status === 200) !== isDue(request)) {
      throw new Error(
        `${answer.status} ${answer.body.code ?? ''} for: ${describeRequest(request) || 'a deletion that is due'}`,
      );
    }
  }

  const batch = fc.array(generatedRequest, { minLength: width, maxLength: width });
  const property = fc.asyncProperty(batch, async (generated) => {
    const held = await Promise.allSettled(generated.map(hold));
    const failed = held.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    sent += generated.length;
    onProgress?.(sent);
  });
  const details = await fc.check(property, {
    seed,
    numRuns: Math.ceil(requests / width),
    endOnFailure: true,
    ...(path !== undefined && { path }),
  });
  if (details.failed) {
    const found = { seed, path: details.counterexamplePath ?? '' };
    throw new RequestsFailed(found, `${fc.defaultReportMessage(details)}\n${details.errorInstance}`);
  }
  return { seed, requests: sent, statuses };
}

/** Where fast-check finds a failing batch again. */
export interface FoundCase {
  readonly seed: number;
  readonly path: string;
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

/** A throttled request was not looked at: it is sent again. */
async function sendPatiently(baseUrl: string, wire: WireRequest): Promise<Answer> {
  for (;;) {
    const answer = await send(baseUrl, wire);
    if (answer.status !== 429) return answer;
    await sleep(50);
  }
}
