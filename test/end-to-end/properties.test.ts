import { checkRequests } from '../runs/fuzz/check-requests';
import { newSeed } from '../runs/long-run';
import { localEnvironment } from '../support/local-environment';
import { oneOfEachAccess } from '../support/rows';

it('generated requests: no 5xx, 200 exactly for valid deletions, every response as documented', async () => {
  const local = await localEnvironment();
  for (const environment of oneOfEachAccess) {
    // Thousands more: `npm run fuzz`.
    const statuses = await checkRequests(local, environment, { requests: 200, seed: newSeed() });
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '404']));
  }
}, 120_000);
