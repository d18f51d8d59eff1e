import fc from 'fast-check';
import type { Environment } from '../../../lib/environment';
import { openTokenMaker, sendPatiently } from '../../support/api';
import type { LocalEnvironment } from '../../support/local-environment';
import type { Organization } from '../../support/organization';
import { describeRequest, type GeneratedRequest, generatedRequest, toWire } from './requests';

/** Requests sent at once, each for another organization. */
const width = 20;

export interface CheckOptions {
  readonly requests: number;
  readonly seed: number;
  /** Called before each batch with the number of requests sent; may throw. */
  readonly progress?: (sent: number) => void;
}

/**
 * Sends generated requests to a local environment: no response is a 5xx, only valid deletions get 200, every response
 * is documented, and a successful request is refused as a replay when resent.
 *
 * @returns the number of responses by status
 * @throws Error with the requests of the batch that failed, and the seed
 */
export async function checkRequests(
  local: LocalEnvironment,
  { name, tokenIssuer }: Pick<Environment, 'name' | 'tokenIssuer'>,
  { requests, seed, progress }: CheckOptions,
): Promise<Readonly<Record<number, number>>> {
  const baseUrl = local.outputs(name).ApiBaseUrl ?? '';
  const tokens = await openTokenMaker(local, name, tokenIssuer);
  const statuses: Record<number, number> = {};
  const organizations: (Organization | undefined)[] = [];
  let sent = 0;

  async function check(request: GeneratedRequest, index: number): Promise<void> {
    const organization = organizations[index] ?? (await local.walletJson<Organization>(name, 'seed'));
    organizations[index] = organization;
    const wire = await toWire(request, organization, tokens);
    const { status, body } = await sendPatiently(baseUrl, wire);
    statuses[status] = (statuses[status] ?? 0) + 1;
    const mistake = describeRequest(request);
    if (status >= 500 || (status === 200) !== (mistake === ''))
      throw new Error(`${status} ${body.code ?? ''} for: ${mistake || 'a valid deletion'}`);
    if (status !== 200) return;
    organizations[index] = undefined;
    const again = await sendPatiently(baseUrl, wire);
    if (again.body.code !== 'user_action_replayed')
      throw new Error(`${again.status} ${again.body.code ?? ''} for a user action that was used before`);
  }

  const batch = fc.array(generatedRequest, { minLength: width, maxLength: width });
  const property = fc.asyncProperty(batch, async (generated) => {
    progress?.(sent);
    const results = await Promise.allSettled(generated.map(check));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    sent += generated.length;
  });
  const numRuns = Math.ceil(requests / width);
  await fc.assert(property, { seed, numRuns, endOnFailure: true, includeErrorInReport: true });
  return statuses;
}
