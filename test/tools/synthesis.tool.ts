import { createAccountApp } from '../../lib/account/app';
import { createApp } from '../../lib/app';
import { promoted } from '../../lib/environment/schema';
import { environments } from '../../lib/environments';
import { createGuardrailsApp } from '../../lib/guardrails/app';
import { newcomer, restored, withDirectAccess, withStandby } from '../support/rows';
import { withTemporaryFolder } from '../support/stacks';

// CloudFormation's own rules take long to load.
jest.setTimeout(120_000);

it('rows as in the documents pass every check of synthesis: added, with a reserve, restored, promoted', () => {
  const { standby: _, ...row } = withDirectAccess;
  const source = { cluster: 'wallet-direct-0123abcd', time: '2026-11-21T10:30:00Z' };
  const added = { ...newcomer, webhookOrigin: { reserve: true } };
  const rows = [added, restored(row, source), promoted(withStandby)];
  withTemporaryFolder((outdir) =>
    expect(() => createApp({ outdir, environments: rows }).synth()).not.toThrow(),
  );
});

it('the account stack passes every check of synthesis', () => {
  const context = {
    environments: environments.map(({ name }) => name).join(','),
    'environments-may-replace-each-other': 'true',
    region: 'eu-central-1',
    repository: 'owner/name',
    budget: '500',
    email: 'on-call@example.com',
  };
  withTemporaryFolder((outdir) => expect(() => createAccountApp(outdir, context).synth()).not.toThrow());
});

it('the guardrails stack passes every check of synthesis', () => {
  const guarded = { environment: newcomer, account: '111122223333', organization: 'o-abcdefghij' };
  withTemporaryFolder((outdir) => expect(() => createGuardrailsApp(guarded, outdir).synth()).not.toThrow());
});
