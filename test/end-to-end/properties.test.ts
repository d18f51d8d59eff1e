import { checkRequests } from '../runs/fuzz/check-requests';
import { localEnvironment } from '../support/local-environment';
import { oneOfEachAccess } from '../support/rows';

it('generated requests: no 5xx, 200 exactly for valid deletions, every response as documented', async () => {
  const local = await localEnvironment();
  for (const environment of oneOfEachAccess) {
    // Thousands more: `npm run fuzz`.
    const statuses = await checkRequests(local, environment, 200);
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '404']));
  }
});
