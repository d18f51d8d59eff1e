import { type Stage, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/** Checks, at synthesis, every resource of an app, or of a stage, against AWS Solutions. */
export function addRulePack(scope: Stage): void {
  Validations.of(scope).addPlugins(new AwsSolutionsChecks(scope));
}
