import { checkInvariants } from './invariants';
import type { Observations } from './observations';
import { runStorm } from './run';
import { smallStorm } from './settings';
import { readPipelineTemplate } from './template';

let seen: Observations;
beforeAll(async () => {
  seen = await runStorm({ settings: smallStorm, template: readPipelineTemplate() });
}, 120_000);

// The delays are compared by `npm run storm`: beside other tests, a few hundred events say nothing about them.
it('keeps every promise to the receivers in a storm of failures, with functions killed in it', () => {
  const broken = checkInvariants(seen, smallStorm).filter(({ violations }) => violations.length > 0);
  expect(broken).toEqual([]);
});
