import { type App, BootstraplessSynthesizer, type IStackSynthesizer, Stack, Validations } from 'aws-cdk-lib';
import { CfnPolicy } from 'aws-cdk-lib/aws-organizations';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { Construct } from 'constructs';
import { ResidencyPlugin } from '../checks/residency/plugin';
import { newApp, readSetting, type Warn } from '../environments-app';
import { pascalCase } from '../stable-logical-id';
import { type AttachedPolicies, resourceControlPolicy, serviceControlPolicy } from './policies';
import { readGuardedAccount } from './settings';

/** Organizations is a global service; its endpoint is there. */
const region = 'us-east-1';

/**
 * Attaches the policies to an environment's account. For the organization's management account, which need not be bootstrapped.
 * Global, without customer data.
 */
export class GuardrailsStack extends Stack {
  constructor(scope: Construct, { actionsOnly, ...guarded }: AttachedPolicies) {
    const { environment, account } = guarded;
    // Not after the serving stack, which a promotion changes: the policies' names are fixed.
    super(scope, `Wallet${pascalCase(environment.name)}Guardrails`, {
      env: { region },
      description: `Wallet infrastructure: residency of ${environment.name}, account ${account}`,
      tags: { service: 'wallet-infrastructure' },
      terminationProtection: true,
      synthesizer: new BootstraplessSynthesizer() as IStackSynthesizer,
    });
    const attach = (id: string, type: string, content: object) =>
      new CfnPolicy(this, id, {
        // `wallet residency` knows the names.
        name: `wallet-${environment.name}-${id.toLowerCase()}`,
        type,
        content,
        targetIds: [account],
      });
    attach('Actions', 'SERVICE_CONTROL_POLICY', serviceControlPolicy(guarded));
    if (!actionsOnly) attach('Resources', 'RESOURCE_CONTROL_POLICY', resourceControlPolicy(guarded));
  }
}

/** The app of that stack, with the other apps' checks. */
export function createGuardrailsApp(variables: NodeJS.ProcessEnv, warn: Warn): App {
  const app = newApp();
  const guarded = readGuardedAccount((name) => readSetting(app, name, warn), variables);
  const { stackName: stackId } = new GuardrailsStack(app, guarded);
  const residencyRegions = [region, ...guarded.environment.residencyRegions];
  const globalTypes = ['AWS::Organizations::Policy'];
  const boundary = { stackId, region, residencyRegions, natGateways: 0, globalTypes } as const;
  Validations.of(app).addPlugins(new ResidencyPlugin([boundary]), new AwsSolutionsChecks(app));
  return app;
}
