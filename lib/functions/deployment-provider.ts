import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { Provider } from 'aws-cdk-lib/custom-resources';
import type { Construct } from 'constructs';
import { type HandlerFunction, logAndRole } from './handler-function';

/**
 * Invokes a function for custom resources, and reports its error, timeout or crash as the reason for the failed deployment: a timeout
 * only if it is well below the framework's 15 minutes.
 */
export class DeploymentProvider extends Provider {
  constructor(scope: Construct, id: string, handler: HandlerFunction) {
    const description = `Invokes ${handler.node.id} while the stack is deployed`;
    const { logGroup, role } = logAndRole(scope, id, handler.logRetention, description);
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
