import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Provider } from 'aws-cdk-lib/custom-resources';
import type { Construct } from 'constructs';
import { type HandlerFunction, logAndRole } from './handler-function';

export interface DeploymentProviderProps {
  /** Its timeout must be well below the framework's 15 minutes; otherwise a timeout is not reported. */
  readonly handler: HandlerFunction;
  readonly logRetention: RetentionDays;
}

/**
 * Invokes a function for custom resources. The CDK's provider framework reports the function's
 * error, timeout or crash as the reason for the failed deployment.
 */
export class DeploymentProvider extends Provider {
  constructor(scope: Construct, id: string, { handler, logRetention }: DeploymentProviderProps) {
    const description = `Invokes ${handler.node.id} while the stack is deployed`;
    const { logGroup, role } = logAndRole(scope, id, logRetention, description);
    const actions = ['lambda:GetFunction', 'lambda:InvokeFunction'];
    role.addToPolicy(new PolicyStatement({ actions, resources: [handler.functionArn] }));
    super(scope, id, {
      onEventHandler: handler,
      // The CDK would also allow the function's versions and aliases, of which there are none.
      frameworkOnEventRole: role.withoutPolicyUpdates(),
      logGroup,
    });
    const framework = this.node.findChild('framework-onEvent').node.defaultChild as CfnFunction;
    framework.architectures = ['arm64'];
  }
}
