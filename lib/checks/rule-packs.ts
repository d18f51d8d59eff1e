import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, type NagPack, NIST80053R5Checks } from 'cdk-nag';

/** Checks, at synthesis, every resource of an app against AWS Solutions and NIST 800-53 R5. */
export function addRulePacks(app: App): void {
  Validations.of(app).addPlugins(...rulePacks(app));
}

export function rulePacks(app: App): readonly NagPack[] {
  return [new AwsSolutionsChecks(app), new NIST80053R5Checks(app)];
}
