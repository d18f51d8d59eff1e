import fc from 'fast-check';
import type { Environment } from '../../../lib/environment/schema';
import { openTokenMaker, sendPatiently } from '../../support/api';
import type { LocalEnvironment } from '../../support/local-environment';
import type { Organization } from '../../support/organization';
import { describeRequest, type GeneratedRequest, generatedRequest, toWire } from './requests';

/** Requests sent at once, each for another organization. */
const width = 20;

/**
 * Sends this many generated requests to a local environment: no response is a 5xx, only valid deletions get 200, every
 * response is documented, and a successful request is refused as a replay when resent.
 *
 * @returns the number of responses by status
 * @throws Error with what is wrong in the request that failed, and the seed
 */
export async function checkRequests(
  local: LocalEnvironment,
  { name, tokenIssuer }: Pick<Environment, 'name' | 'tokenIssuer'>,
  count: number,
  { signal, ...seed }: { readonly seed?: number; readonly signal?: AbortSignal } = {},
): Promise<Readonly<Record<number, number>>> {
  const baseUrl = local.outputs(name).ApiBaseUrl ?? '';
  const tokens = await openTokenMaker(local, name, tokenIssuer);
  const statuses: Record<number, number> = {};
  const organizations: (Organization | undefined)[] = [];

  async function check(request: GeneratedRequest, index: number): Promise<void> {
    const organization = organizations[index] ?? (await local.walletJson<Organization>(name, 'seed'));
    organizations[index] = organization;
    const wire = await toWire(request, organization, tokens);
    const { status, body } = await sendPatiently(baseUrl, wire);
    statuses[status] = (statuses[status] ?? 0) + 1;
    const mistakes = describeRequest(request);
    if (status >= 500 || (status === 200) !== (mistakes === ''))
      throw new Error(`${status} ${body.code ?? ''} for: ${mistakes || 'a valid deletion'}`);
    if (status !== 200) return;
    organizations[index] = undefined;
    const again = await sendPatiently(baseUrl, wire);
    if (again.body.code !== 'user_action_replayed')
      throw new Error(`${again.status} ${again.body.code ?? ''} for a user action that was used before`);
  }

  const batch = fc.array(generatedRequest, { minLength: width, maxLength: width });
  const property = fc.asyncProperty(batch, async (generated) => {
    signal?.throwIfAborted();
    const results = await Promise.allSettled(generated.map(check));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  });
  const numRuns = Math.ceil(count / width);
  await fc.assert(property, { numRuns, endOnFailure: true, includeErrorInReport: true, ...seed });
  return statuses;
}
