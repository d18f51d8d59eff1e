import { join, resolve } from 'node:path';
import { promoted } from '../../lib/environment/schema';
import { createApp } from '../../lib/environments-app';
import { Workspace } from '../ci/workspace';
import { disposable, keysIn, newcomer, restored, withDirectAccess, withStandby } from '../support/rows';
import { temporaryFolder, withTemporaryFolder } from '../support/temporary-folder';

it('rows as in the documents pass every check of synthesis: added, with a reserve, restored, with replicas of keys, promoted, disposable', () => {
  const { standby: _, ...row } = withDirectAccess;
  const source = { cluster: 'wallet-direct-0123abcd', time: '2026-11-21T10:30:00Z' };
  const added = { ...newcomer, webhookOrigin: { reserve: true } };
  const keys = keysIn(withStandby.region, withStandby);
  const prepared = { ...withStandby, standby: { ...withStandby.standby, keys } };
  for (const rows of [[added, restored(row, source), promoted(prepared), disposable], [prepared]])
    withTemporaryFolder((outdir) =>
      expect(() => createApp({ outdir, environments: rows }).synth()).not.toThrow(),
    );
});

const folder = temporaryFolder();
it("a person's own ~/.cdk.json moves no assembly", async () => {
  const checkout = new Workspace(folder());
  checkout.write('home/.cdk.json', '{"output":"elsewhere","context":{}}');
  const HOME = join(checkout.folder, 'home');
  const { exitCode, printed } = await checkout.start('npm run synth -- --no-validation', { HOME });
  const [, to = ''] = /^Wrote .* to (.*)$/m.exec(printed) ?? [];
  expect([exitCode, resolve(checkout.folder, to)]).toEqual([0, join(checkout.folder, 'cdk.out')]);
});
