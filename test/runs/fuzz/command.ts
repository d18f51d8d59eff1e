import { Command, InvalidArgumentError } from 'commander';
import fc from 'fast-check';
import { number } from '../../../cli/shell/options';
import { environments as table } from '../../../lib/environments';
import { projectRoot } from '../../architecture/sources';
import { openTokenMaker, send } from '../../support/api';
import { openLocalEnvironment } from '../../support/local-environment';
import type { Organization } from '../../support/organization';
import { longRun, startProject, temporaryFolder } from '../long-run';
import { describeRequest, type GeneratedRequest, generatedRequest, toWire } from './requests';

const command = new Command('npm run fuzz --')
  .description(
    'Sends generated requests to local environments, one for each database access. No response may be a 5xx, only valid deletions get 200, every response is documented, and a repeated deletion is refused.',
  )
  .option('--runs <number>', 'requests to send to each environment', number(1, 1_000_000), 10_000)
  .option('--seed <number>', 'repeat a run that failed', (text) => {
    if (/^-?\d{1,10}$/.test(text)) return Number(text);
    throw new InvalidArgumentError('Give the seed that the failed run printed.');
  });

/** The operator's rows, the first for each database access. */
const oneOfEachAccess = table.filter(
  (row) => row === table.find(({ databaseAccess }) => databaseAccess === row.databaseAccess),
);
/** Requests sent at once, each for another organization. */
const width = 20;

void longRun<{ runs: number; seed?: number }>(command, async ({ runs, ...seed }, harness) => {
  const state = await temporaryFolder(harness.cleanup);
  await startProject(projectRoot, state, harness);
  const local = openLocalEnvironment(state);
  const statuses: Record<string, Record<number, number>> = {};
  for (const { name, tokenIssuer } of oneOfEachAccess) {
    harness.progress(`${runs} requests to ${name}`);
    const baseUrl = local.outputs(name).ApiBaseUrl ?? '';
    const tokens = openTokenMaker(local, name, tokenIssuer);
    const counts: Record<number, number> = {};
    statuses[name] = counts;
    const organizations: (Organization | undefined)[] = [];

    const check = async (request: GeneratedRequest, index: number) => {
      const organization = organizations[index] ?? (await local.walletJson<Organization>(name, 'seed'));
      organizations[index] = organization;
      const wire = await toWire(request, organization, tokens);
      const { status, body } = await send(baseUrl, wire);
      counts[status] = (counts[status] ?? 0) + 1;
      const mistakes = describeRequest(request);
      if (status >= 500 || (status === 200) !== (mistakes === ''))
        throw new Error(`${status} ${body.code ?? ''} for: ${mistakes || 'a valid deletion'}`);
      if (status !== 200) return;
      organizations[index] = undefined;
      const again = await send(baseUrl, wire);
      if (again.body.code !== 'user_action_replayed')
        throw new Error(`${again.status} ${again.body.code ?? ''} for a user action that was used before`);
    };
    const batch = fc.array(generatedRequest, { minLength: width, maxLength: width });
    const property = fc.asyncProperty(batch, async (generated) => {
      harness.signal.throwIfAborted();
      const results = await Promise.allSettled(generated.map(check));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    });
    const numRuns = Math.ceil(runs / width);
    await fc.assert(property, { numRuns, endOnFailure: true, includeErrorInReport: true, ...seed });
  }
  return { report: JSON.stringify(statuses), failed: false };
});
