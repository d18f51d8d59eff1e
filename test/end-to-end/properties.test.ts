import foundCases from '../runs/fuzz/found-cases.json';
import { holdRequests } from '../runs/fuzz/hold-requests';
import { localEnvironment } from '../support/local-environment';
import { oneOfEachAccess } from '../support/rows';

/** In all, over both ways to the database. Thousands more: `npm run fuzz`. */
const requests = 1_500;

it(`${requests} generated requests: no 5xx, no 200 that is not due, every error as documented`, async () => {
  const local = await localEnvironment();
  const findings = await Promise.all(
    oneOfEachAccess.map((environment) =>
      holdRequests(local, environment, { requests: requests / oneOfEachAccess.length }),
    ),
  );
  expect(findings.reduce((sum, found) => sum + found.requests, 0)).toBeGreaterThanOrEqual(requests);
  for (const { statuses } of findings)
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '404']));
}, 180_000);

it('every case that was found before is held', async () => {
  const local = await localEnvironment();
  for (const found of foundCases) {
    for (const environment of oneOfEachAccess)
      await holdRequests(local, environment, { requests: 1, ...found });
  }
}, 180_000);
