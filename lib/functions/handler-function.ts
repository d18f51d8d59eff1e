import { Aws, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as EventTarget } from 'aws-cdk-lib/aws-events-targets';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Function as LambdaFunction, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { keepActiveEvent } from '../../lambda/shared/variables';
import { acknowledge, defaultPolicy } from '../checks/acknowledgements';
import { BundledCode, type BundleOptions } from './bundles';

export interface FunctionNetwork {
  readonly vpc: ec2.IVpc;
  readonly vpcSubnets: ec2.SubnetSelection;
  readonly securityGroups: ec2.ISecurityGroup[];
}

export interface HandlerFunctionProps<Name extends string = string> extends BundleOptions {
  /** The folder under `lambda/` with the `handler.ts` to bundle. */
  readonly handlerName: string;
  readonly description: string;
  /** Whether a rule invokes it, at least once a week: its network interfaces stay. @default false */
  readonly isScheduled?: boolean;
  /** The names of the function's own variables, of its `variables.ts` if it has any. */
  readonly variables: readonly Name[];
  /** A value for each of `variables`; a missing one fails to compile. */
  readonly environment: Readonly<Record<NoInfer<Name>, string>>;
  readonly timeout: Duration;
  /** MiB. CPU scales with it. @default 512 */
  readonly memorySize?: number;
  readonly logRetention: RetentionDays;
  /** @default - outside any VPC */
  readonly network?: FunctionNetwork | undefined;
}

/** A Lambda function from `lambda/<handlerName>/handler.ts`. Its role may only write to its own log. */
export class HandlerFunction<Name extends string = string> extends LambdaFunction {
  readonly handlerName: string;
  readonly logRetention: RetentionDays;

  constructor(scope: Construct, id: string, props: HandlerFunctionProps<Name>) {
    const { handlerName, description, timeout, environment, memorySize = 512, network, logRetention } = props;
    const { logGroup, role } = logAndRole(scope, id, logRetention, `${handlerName}: ${description}`);
    if (network) grantNetworkInterfaces(role);
    super(scope, id, {
      code: new BundledCode(handlerName, props),
      handler: 'index.handler',
      description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize,
      timeout,
      environment,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      ...network,
    });
    this.handlerName = handlerName;
    this.logRetention = logRetention;
    if (network && !props.isScheduled) keepActive(this);
  }

  allow(actions: string[], ...resources: string[]): void {
    this.addToRolePolicy(new PolicyStatement({ actions, resources }));
  }
}

/** A function's log, and a role that may only write to it. */
export function logAndRole(scope: Construct, id: string, retention: RetentionDays, description: string) {
  const removalPolicy = RemovalPolicy.DESTROY;
  const logGroup = new LogGroup(scope, `${id}Log`, { retention, removalPolicy });
  const assumedBy = new ServicePrincipal('lambda.amazonaws.com');
  const role = new Role(scope, `${id}Role`, { assumedBy, description });
  logGroup.grantWrite(role);
  return { logGroup, role };
}

/**
 * Sends a function a no-op event once a day: after weeks without an invocation, Lambda removes the network interfaces of
 * a function in a VPC, and the next invocation fails while Lambda recreates them.
 * https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
 */
function keepActive(handler: LambdaFunction): void {
  new Rule(handler, 'KeepActive', {
    description: 'Daily: a no-op event, so that Lambda keeps the network interfaces',
    schedule: Schedule.rate(Duration.days(1)),
    targets: [
      new EventTarget(handler, {
        event: RuleTargetInput.fromObject(keepActiveEvent),
        retryAttempts: 2,
        maxEventAge: Duration.hours(2),
      }),
    ],
  });
}

/**
 * Lambda creates network interfaces with the function's role, with actions that EC2 allows only on all resources. The function's code
 * shares the role and is denied them. Functions are named after their stack; the function itself would be a circular reference.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
 */
function grantNetworkInterfaces(role: Role): void {
  const statement = {
    actions: [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ],
    resources: ['*'],
  };
  const resource = `function:${Aws.STACK_NAME}-*`;
  const functionsOfStack = Stack.of(role).formatArn({ service: 'lambda', resource });
  role.addToPolicy(new PolicyStatement(statement));
  role.addToPolicy(
    new PolicyStatement({
      ...statement,
      effect: Effect.DENY,
      conditions: { ArnLike: { 'lambda:SourceFunctionArn': functionsOfStack } },
    }),
  );
  acknowledge(defaultPolicy(role), 'networkInterfaces');
}
