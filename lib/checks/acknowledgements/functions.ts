import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { acknowledge, nistAndPci } from './acknowledge';

/** Who makes a function run. It decides what bounds its concurrency, and what becomes of an event that fails. */
export type Invoker = 'gateway' | 'queue' | 'schedule' | 'deployment' | 'operator';

const boundOf: Readonly<Record<Invoker, string>> = {
  gateway:
    'The throttle of the API stage bounds it. A reservation would be taken from all other functions of the account, and would answer bursts that the throttle admits with errors.',
  queue:
    'MaximumConcurrency of its event source bounds it. A limit on the function would make SQS count every throttled attempt as a receive of the message.',
  schedule: 'One rule invokes it once a day, and two runs at once delete the same rows: nothing to bound.',
  deployment: 'CloudFormation alone invokes it, a few times in a deployment.',
  operator: 'Operators whom IAM admits invoke it, one command at a time.',
};

const deadLettersOf: Readonly<Record<Invoker, string>> = {
  gateway:
    'API Gateway invokes it synchronously: the caller gets the error, and Lambda has no event to keep.',
  queue:
    'Its event source is a queue: what fails stays there, and ends in the dead-letter queue of that queue.',
  schedule:
    'EventBridge tries a failed run twice more. It deletes what has expired: the next run deletes what this one did not, so a lost event loses nothing.',
  deployment:
    'It is invoked synchronously during a deployment, which fails with its error: Lambda has no event to keep.',
  operator: 'The command line invokes it synchronously and shows the error: Lambda has no event to keep.',
};

/** Acknowledges what the rule packs find on a function. */
export function acknowledgeFunction(lambda: LambdaFunction, invokedBy: Invoker): void {
  acknowledge(lambda, ['NIST.800.53.R5-LambdaConcurrency'], boundOf[invokedBy]);
  acknowledge(lambda, ['NIST.800.53.R5-LambdaDLQ'], deadLettersOf[invokedBy]);
  if (!lambda.isBoundToVpc) {
    acknowledge(
      lambda,
      nistAndPci('LambdaInsideVPC'),
      'It calls AWS at most, over TLS and with a role of its own, and listens to nothing. In the VPC it could call AWS only through the webhook origin, whose move or failure must not stop it.',
    );
  }
}

/** Acknowledges the inline policy of a role. */
export function acknowledgeInlinePolicy(role: IConstruct): void {
  acknowledge(defaultPolicy(role), nistAndPci('IAMNoInlinePolicy'), whyInlinePolicy);
}

export const whyInlinePolicy =
  'Least privilege for this one role, which goes when the role goes. A managed policy could be attached to others and outlive it.';

/** The policy that the CDK makes for a role's statements. */
export function defaultPolicy(role: IConstruct): IConstruct {
  return role.node.findChild('DefaultPolicy');
}
