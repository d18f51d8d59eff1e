import type { Duration } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

/** Placeholder contract: see the docstrings; the owner of lib/ completes it. */
export interface HandlerFunctionProps<Name extends string = string> {
  /** The folder under `lambda/` with the `handler.ts` to bundle. */
  readonly useCase: string;
  /** The names of the function's own variables: its `environment.ts`. */
  readonly variables: readonly Name[];
  /** A value for each of `variables`; one that is missing does not compile. */
  readonly environment: Readonly<Record<Name, string>>;
  readonly timeout: Duration;
  /** @default 512 MiB */
  readonly memorySize?: number;
  readonly logRetention: RetentionDays;
  /** @default - outside of the VPC */
  readonly network?: { readonly vpc: ec2.IVpc; readonly subnets: ec2.SubnetSelection };
}
