import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ResidencyPlugin } from '../checks/residency/plugin';
import { newApp, readSetting, type Warn } from '../environments-app';
import { AccountStack } from './account-stack';
import { readAccountSettings } from './settings';

/** The app of the account stack, with the other app's checks. Only it may contain some types of global services. */
export function createAccountApp(warn: Warn) {
  const app = newApp();
  const settings = readAccountSettings((name) => readSetting(app, name, warn));
  const { environments, region } = settings;
  new AccountStack(app, settings);
  const boundary = {
    stackId: AccountStack.stackId,
    region,
    residencyRegions: [...new Set([region, ...environments.flatMap((each) => each.residencyRegions)])],
    natGateways: 0,
    globalTypes: ['AWS::IAM::OIDCProvider'],
  } as const;
  Validations.of(app).addPlugins(new ResidencyPlugin([boundary]), new AwsSolutionsChecks(app));
  return app;
}
