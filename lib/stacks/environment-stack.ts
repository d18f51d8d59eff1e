import { Annotations, Aspects, CfnOutput, CfnResource, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import { CfnKey } from 'aws-cdk-lib/aws-kms';
import type { Construct, IConstruct } from 'constructs';
import type { OutputName } from '../../domain/outputs';
import type { Environment } from '../environment';

export interface EnvironmentStackProps {
  readonly environment: Environment;
  /** The AWS account to deploy to. @default - decided by the deployer's credentials */
  readonly account?: string | undefined;
}

/** What the stacks of an environment share: region, tags, description and notices. */
export abstract class EnvironmentStack extends Stack {
  private readonly environmentOfStack: Environment;

  /** @param part what the stack is to the environment, for its description */
  constructor(scope: Construct, part: string, { environment, account }: EnvironmentStackProps) {
    super(scope, environment.stackId, {
      env: { region: environment.region, ...(account && { account }) },
      description: [`Wallet infrastructure: ${part}${terms(environment)}.`, ...notices(environment)].join(
        ' ',
      ),
      tags: tags(environment),
      terminationProtection: environment.serviceLevelAgreement,
    });
    this.environmentOfStack = environment;
    if (environment.disposable) Aspects.of(this).add({ visit: dispose });
    for (const [name, value] of Object.entries(tags(environment))) {
      Tags.of(this).add(name, value, { excludeResourceTypes: untagged });
    }
  }

  /**
   * The row's. `Fn::GetAZs` would give those with a default subnet, in an order that may change: then CloudFormation would
   * replace every subnet. https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getavailabilityzones.html
   */
  override get availabilityZones(): string[] {
    return [...this.environmentOfStack.zones];
  }

  /** Makes synthesis warn of a deprecated environment. */
  warnOfDeprecation(): void {
    const { name, deprecation } = this.environmentOfStack;
    if (deprecation === undefined) return;
    const sentences = [`${name} is for those who still use it.`, ...notices(this.environmentOfStack)];
    Annotations.of(this).addWarningV2('wallet-infrastructure:deprecated-environment', sentences.join(' '));
  }

  /** Adds an output. Each description ends with the notices of the environment. */
  protected output(name: OutputName, description: string, value: string): void {
    const described = [`${description}.`, ...notices(this.environmentOfStack)].join(' ');
    new CfnOutput(this, name, { description: described, value });
  }
}

/** Leaves nothing behind but the Elastic IP, which is retained everywhere. */
function dispose(node: IConstruct): void {
  if (!CfnResource.isCfnResource(node) || node.cfnResourceType === 'AWS::EC2::EIP') return;
  if (node.cfnOptions.deletionPolicy !== undefined) node.applyRemovalPolicy(RemovalPolicy.DESTROY);
  // Days, the fewest: https://docs.aws.amazon.com/kms/latest/developerguide/deleting-keys.html
  if (node instanceof CfnKey) node.pendingWindowInDays = 7;
}

/** Types whose tags are too new: `cfn-lint` does not know them, and a region may not either. CloudFormation passes on the stack's. */
const untagged = ['AWS::CloudWatch::Dashboard'];

const terms = ({ serviceLevelAgreement }: Environment): string =>
  `, ${serviceLevelAgreement ? 'with' : 'without'} a service level agreement`;

/** Sentences about an environment that is not to be relied on. */
function notices({ deprecation, testFundsOnly }: Environment): readonly string[] {
  return [
    ...(deprecation ? [`Deprecated since ${deprecation.since}.`] : []),
    ...(deprecation?.sunset ? [`Switched off on ${deprecation.sunset}.`] : []),
    ...(testFundsOnly ? ['Test funds only.'] : []),
  ];
}

function tags({
  name,
  serviceLevelAgreement,
  deprecation,
  testFundsOnly,
}: Environment): Record<string, string> {
  return {
    service: 'wallet-infrastructure',
    environment: name,
    'service-level-agreement': serviceLevelAgreement ? 'yes' : 'no',
    deprecated: String(deprecation !== undefined),
    'test-funds-only': String(testFundsOnly),
  };
}
