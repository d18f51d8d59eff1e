import { App, Validations } from 'aws-cdk-lib';
import { commandLineContext } from '../app';
import { ResidencyPlugin } from '../checks/residency/plugin';
import { addRulePacks } from '../checks/rule-packs';
import { GuardrailsStack } from './guardrails-stack';
import type { GuardedAccount } from './policies';

/** The app of the guardrails stack, with the other apps' checks. */
export function createGuardrailsApp(guarded: GuardedAccount, outdir?: string): App {
  const app = new App({
    ...(outdir !== undefined && { outdir }),
    context: commandLineContext(),
    analyticsReporting: false,
    treeMetadata: false,
  });
  const { stackName: stackId } = new GuardrailsStack(app, guarded);
  const boundary = {
    stackId,
    region: GuardrailsStack.inRegion,
    residencyRegions: [GuardrailsStack.inRegion, ...guarded.environment.residencyRegions],
    natGateways: 0,
    globalTypes: ['AWS::Organizations::Policy'],
  } as const;
  Validations.of(app).addPlugins(new ResidencyPlugin([boundary]));
  addRulePacks(app);
  return app;
}
