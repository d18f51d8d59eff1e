import { RemovalPolicy } from 'aws-cdk-lib';
import { AccountRootPrincipal, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnReplicaKey, Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { type Environment, recordedArn, type SharedKey } from './environment/schema';
import { withStableLogicalId } from './stable-logical-id';

const signing = { keySpec: KeySpec.ECC_NIST_P256, keyUsage: KeyUsage.SIGN_VERIFY };
const kinds = {
  accessToken: { summary: 'AccessToken signatures of', ...signing },
  userAction: { summary: 'UserAction signatures of', ...signing },
  webhookSecrets: {
    summary: 'Derives the webhook secrets of',
    keySpec: KeySpec.HMAC_256,
    keyUsage: KeyUsage.GENERATE_VERIFY_MAC,
  },
};

/**
 * A key that a promotion keeps: new, or of a primary in another region that the row records, or an existing one. A key that
 * the row no longer has stays in KMS, unused, until an operator deletes it. Key id and material are those of the primary; the policy is its own:
 * https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-overview.html
 *
 * @returns its ARN
 */
export function createSharedKey(scope: Construct, environment: Environment, key: SharedKey): string {
  const { multiRegionKeys, keyReplicas, adoptedKeys } = environment;
  const adopted = recordedArn(adoptedKeys, key);
  if (adopted !== undefined) return adopted;
  const { logicalId, purpose, label } = key;
  const { summary, ...kind } = kinds[purpose];
  const description = [`${summary} ${environment.name}`, ...(label ? [label] : [])].join(', ');
  const primaryKeyArn = recordedArn(keyReplicas, key);
  if (primaryKeyArn === undefined) {
    const removalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
    const multiRegion = multiRegionKeys && { multiRegion: true };
    const created = new Key(scope, logicalId, { description, ...kind, ...multiRegion, removalPolicy });
    return withStableLogicalId(created, logicalId).keyArn;
  }
  const replica = new CfnReplicaKey(scope, logicalId, {
    description,
    primaryKeyArn,
    // The default of other keys. The stack adds what it denies.
    keyPolicy: new PolicyDocument({
      statements: [
        new PolicyStatement({
          actions: ['kms:*'],
          principals: [new AccountRootPrincipal()],
          resources: ['*'],
        }),
      ],
    }),
    // The minimum: a deleted replica blocks another one in the region for as long.
    pendingWindowInDays: 7,
  });
  replica.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
  return withStableLogicalId(replica, logicalId).attrArn;
}
