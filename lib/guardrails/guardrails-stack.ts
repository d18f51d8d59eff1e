import { BootstraplessSynthesizer, type IStackSynthesizer, Stack } from 'aws-cdk-lib';
import { CfnPolicy } from 'aws-cdk-lib/aws-organizations';
import type { Construct } from 'constructs';
import { type GuardedAccount, resourceControlPolicy, serviceControlPolicy } from './policies';

/**
 * Attaches the policies to an environment's account. For the organization's management account, which need not be bootstrapped.
 * Global, without customer data.
 */
export class GuardrailsStack extends Stack {
  /** Organizations is a global service; its endpoint is there. */
  static readonly inRegion = 'us-east-1';

  constructor(scope: Construct, guarded: GuardedAccount) {
    const { environment, account } = guarded;
    super(scope, `${environment.stackId}Guardrails`, {
      env: { region: GuardrailsStack.inRegion },
      description: `Wallet infrastructure: residency of ${environment.name}, account ${account}`,
      tags: { service: 'wallet-infrastructure' },
      terminationProtection: true,
      synthesizer: new BootstraplessSynthesizer() as IStackSynthesizer,
    });
    const attach = (id: string, type: string, content: object) =>
      new CfnPolicy(this, id, {
        name: `wallet-${environment.name}-${id.toLowerCase()}`,
        description: `Keeps the data of ${environment.name} in ${environment.residencyRegions.join(', ')}`,
        type,
        content,
        targetIds: [account],
      });
    attach('Actions', 'SERVICE_CONTROL_POLICY', serviceControlPolicy(guarded));
    attach('Resources', 'RESOURCE_CONTROL_POLICY', resourceControlPolicy(guarded));
  }
}
