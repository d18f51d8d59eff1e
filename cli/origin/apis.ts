import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { EC2Client } from '@aws-sdk/client-ec2';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { Target } from '../target';

/** The services that know a deployed webhook origin. */
export interface OriginApis {
  readonly target: Target;
  readonly cloudFormation: CloudFormationClient;
  readonly ec2: EC2Client;
  readonly lambda: LambdaClient;
}

/** Calls are many and idempotent, updates by their token: throttled ones are retried within the deadline of each call. */
export const maxAttempts = 8;

export async function openOriginApis(target: Target): Promise<OriginApis> {
  const [{ CloudFormationClient }, { EC2Client }, { LambdaClient }] = await Promise.all([
    import('@aws-sdk/client-cloudformation'),
    import('@aws-sdk/client-ec2'),
    import('@aws-sdk/client-lambda'),
  ]);
  return {
    target,
    cloudFormation: new CloudFormationClient({ ...target.clientSettings('cloudformation'), maxAttempts }),
    ec2: new EC2Client({ ...target.clientSettings('ec2'), maxAttempts }),
    lambda: new LambdaClient({ ...target.clientSettings('lambda'), maxAttempts }),
  };
}
