import { environments } from '../../lib/environments';
import foundCases from '../runs/fuzz/found-cases.json';
import { holdRequests } from '../runs/fuzz/hold-requests';
import { localEnvironment } from '../support/local-environment';

/** In all, over the environments that are meant for traffic. Thousands more: `npm run fuzz`. */
const requests = 1_500;
const busy = environments.filter(({ deprecation }) => deprecation === undefined);

it(`${requests} generated requests: no 5xx, no 200 that is not due, every error as documented`, async () => {
  const local = await localEnvironment();
  const findings = await Promise.all(
    busy.map((environment) => holdRequests(local, environment, { requests: requests / busy.length })),
  );
  expect(findings.reduce((sum, found) => sum + found.requests, 0)).toBeGreaterThanOrEqual(requests);
  for (const { statuses } of findings)
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '404']));
}, 180_000);

it('every case that was found before is held', async () => {
  const local = await localEnvironment();
  for (const found of foundCases) {
    for (const environment of busy) await holdRequests(local, environment, { requests: 1, ...found });
  }
}, 180_000);
