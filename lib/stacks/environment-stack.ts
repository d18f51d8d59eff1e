import { Annotations, Aspects, CfnOutput, CfnResource, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, type PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnKey, CfnReplicaKey, Key } from 'aws-cdk-lib/aws-kms';
import type { Construct, IConstruct } from 'constructs';
import type { OutputName } from '../../domain/outputs';
import type { Environment } from '../environment/schema';

export interface EnvironmentStackProps {
  readonly environment: Environment;
  /** The AWS account to deploy to. @default - decided by the deployer's credentials */
  readonly account?: string | undefined;
}

/** People's rights and the evidence of residency depend on them. */
export const identifyingTags = ({ name }: Environment) => ({
  service: 'wallet-infrastructure',
  environment: name,
});

/** Shared by the stacks of an environment: region, zones, tags, description and notices. */
export abstract class EnvironmentStack extends Stack {
  private readonly row: Environment;
  private readonly notices: readonly string[];

  /** @param title of the stack, for its description */
  constructor(scope: Construct, title: string, { environment, account }: EnvironmentStackProps) {
    const { stackId, region, serviceLevelAgreement, deprecation, testFundsOnly } = environment;
    const terms = `${serviceLevelAgreement ? 'with' : 'without'} a service level agreement`;
    const notices = [
      ...(deprecation ? [`Deprecated since ${deprecation.since}.`] : []),
      ...(deprecation?.sunset ? [`Switched off on ${deprecation.sunset}.`] : []),
      ...(testFundsOnly ? ['Test funds only.'] : []),
    ];
    const tags = {
      ...environment.tags,
      ...identifyingTags(environment),
      'service-level-agreement': serviceLevelAgreement ? 'yes' : 'no',
      deprecated: String(deprecation !== undefined),
      'test-funds-only': String(testFundsOnly),
    };
    super(scope, stackId, {
      // In a stage, the CDK's own name would have the stage's before it.
      stackName: stackId,
      env: { region, ...(account && { account }) },
      description: [`Wallet infrastructure: ${title}, ${terms}.`, ...notices].join(' '),
      tags,
      terminationProtection: serviceLevelAgreement,
    });
    this.row = environment;
    this.notices = notices;
    Aspects.of(this).add({ visit: limitGrants });
    if (environment.disposable) Aspects.of(this).add({ visit: dispose });
    for (const [key, value] of Object.entries(tags)) {
      // Too new: `cfn-lint` and some regions may not support its tags. CloudFormation adds the stack's tags.
      Tags.of(this).add(key, value, { excludeResourceTypes: ['AWS::CloudWatch::Dashboard'] });
    }
  }

  /**
   * The row's. `Fn::GetAZs` would return zones with a default subnet, in an order that may change: then CloudFormation would
   * replace every subnet. https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getavailabilityzones.html
   */
  override get availabilityZones(): string[] {
    return [...this.row.zones];
  }

  warnOfDeprecation(): void {
    const { name, deprecation } = this.row;
    if (deprecation === undefined) return;
    const warning = [`${name} is deprecated: for existing users only.`, ...this.notices].join(' ');
    Annotations.of(this).addWarningV2('wallet-infrastructure:deprecated-environment', warning);
  }

  protected addOutputs(
    outputs: Partial<Record<OutputName, readonly [description: string, value: string]>>,
  ): void {
    for (const [name, [description, value]] of Object.entries(outputs)) {
      new CfnOutput(this, name, { description: [`${description}.`, ...this.notices].join(' '), value });
    }
  }
}

/**
 * Only AWS services may be granted a key: a grant outlives changes of policies. The form of AWS Control Tower's CT.KMS.PR.3.
 * https://docs.aws.amazon.com/kms/latest/developerguide/grants.html
 */
function limitGrants(node: IConstruct): void {
  if (!(node instanceof Key) && !(node instanceof CfnReplicaKey)) return;
  const denial = new PolicyStatement({
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ['kms:CreateGrant'],
    // In a key policy, `*` means the key itself.
    resources: ['*'],
    conditions: {
      BoolIfExists: { 'kms:GrantIsForAWSResource': 'false', 'aws:PrincipalIsAWSService': 'false' },
    },
  });
  if (node instanceof Key) node.addToResourcePolicy(denial);
  else (node.keyPolicy as PolicyDocument).addStatements(denial);
}

/** Deletes everything with the stack, the Elastic IP too. */
function dispose(node: IConstruct): void {
  if (!CfnResource.isCfnResource(node)) return;
  if (node.cfnOptions.deletionPolicy !== undefined) node.applyRemovalPolicy(RemovalPolicy.DESTROY);
  // Days, the minimum: https://docs.aws.amazon.com/kms/latest/developerguide/deleting-keys.html
  if (node instanceof CfnKey) node.pendingWindowInDays = 7;
}
