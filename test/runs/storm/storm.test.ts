import { isBroken } from '../harness/checks';
import { checkInvariants } from './invariants';
import type { Observations } from './observations';
import { runStorm } from './run';
import { smallStorm } from './settings';

let seen: Observations;
beforeAll(async () => {
  seen = await runStorm(smallStorm);
}, 180_000);

// The delays are compared by `npm run storm`: beside other tests, a few hundred events say nothing about them.
it('keeps every promise to the receivers in a storm of failures, with functions killed in it', () => {
  expect(checkInvariants(seen, smallStorm).filter(isBroken)).toEqual([]);
});
