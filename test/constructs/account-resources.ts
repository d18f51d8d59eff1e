import { AccountStack } from '../../lib/account/account-stack';
import { type AccountSettings, readAccountSettings } from '../../lib/account/settings';
import { withStandby } from '../support/rows';
import { type Json, withApp } from '../support/stacks';

const own = { environments: withStandby.name, repository: 'owner/name' };
export const settingsOf = (changes: Readonly<Record<string, string>> = {}) =>
  readAccountSettings((key) => new Map(Object.entries({ ...own, ...changes })).get(key));

/** Of the account stack, whose checks are in test/tools/synthesis.tool.ts. */
export const accountResources = (settings: AccountSettings): Json =>
  withApp((app) => {
    new AccountStack(app, settings);
    return app.synth().getStackByName(AccountStack.stackId).template.Resources;
  });
