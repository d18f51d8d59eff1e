import { App, Validations } from 'aws-cdk-lib';
import { commandLineContext, readSetting, type Warn } from '../app';
import { ResidencyPlugin } from '../checks/residency/plugin';
import { addRulePack } from '../checks/rule-packs';
import { AccountStack } from './account-stack';
import { readAccountSettings } from './settings';

/** The app of the account stack, with the other app's checks. Only it may contain some types of global services. */
export function createAccountApp(
  outdir?: string,
  context?: Readonly<Record<string, string>>,
  warn?: Warn,
): App {
  const app = new App({
    ...(outdir !== undefined && { outdir }),
    context: { ...commandLineContext(), ...context },
    analyticsReporting: false,
    treeMetadata: false,
  });
  const settings = readAccountSettings((name) => readSetting(app, name, warn));
  const { environments, region } = settings;
  new AccountStack(app, settings);
  const boundary = {
    stackId: AccountStack.stackId,
    region,
    residencyRegions: [...new Set([region, ...environments.flatMap((each) => each.residencyRegions)])],
    natGateways: 0,
    globalTypes: ['AWS::IAM::OIDCProvider', 'AWS::Budgets::Budget'],
  } as const;
  Validations.of(app).addPlugins(new ResidencyPlugin([boundary]));
  addRulePack(app);
  return app;
}
