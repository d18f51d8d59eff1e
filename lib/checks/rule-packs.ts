import { type Stage, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, type NagPack, NIST80053R5Checks } from 'cdk-nag';

/** Checks, at synthesis, every resource of an app, or of a stage, against AWS Solutions and NIST 800-53 R5. */
export function addRulePacks(scope: Stage): void {
  Validations.of(scope).addPlugins(...rulePacks(scope));
}

export function rulePacks(scope: Stage): readonly NagPack[] {
  return [new AwsSolutionsChecks(scope), new NIST80053R5Checks(scope)];
}
