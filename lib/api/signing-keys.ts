import { CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Environment } from '../environment/schema';
import { DeploymentProvider } from '../functions/deployment-provider';
import { HandlerFunction } from '../functions/handler-function';
import { withStableLogicalId } from '../stable-logical-id';

/** Keys for one purpose: the first signs, all verify. */
export interface SigningKeySet {
  /** ARN of the KMS key that signs. */
  readonly signingKeyArn: string;
  /** The public keys as a JWKS document; known at deployment. */
  readonly jwks: string;
}

/**
 * The region's KMS keys (ECDSA on P-256), which never leave it, and their public keys, exported during
 * deployment so that functions verify offline. A key whose label is removed from the table stays in KMS, unused, until
 * an operator deletes it.
 */
export class SigningKeys extends Construct {
  readonly accessToken: SigningKeySet;
  readonly userAction: SigningKeySet;

  constructor(scope: Construct, id: string, { environment }: { readonly environment: Environment }) {
    super(scope, id);
    const exporter = new HandlerFunction(this, 'ExportJwks', {
      useCase: 'export-jwks',
      description: 'Exports the public halves of signing keys',
      invokedBy: 'deployment',
      variables: [],
      environment: {},
      timeout: Duration.seconds(30),
      logRetention: environment.logRetentionDays,
    });
    const { serviceToken } = new DeploymentProvider(this, 'Provider', {
      handler: exporter,
      logRetention: environment.logRetentionDays,
    });
    const createKey = (purpose: string, label: string): Key => {
      const logicalId = `${purpose}SigningKey${label.replace('-', '')}`;
      const key = new Key(this, logicalId, {
        description: `${purpose} signatures of ${environment.name}, ${label}`,
        keySpec: KeySpec.ECC_NIST_P256,
        keyUsage: KeyUsage.SIGN_VERIFY,
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      });
      return withStableLogicalId(key, logicalId);
    };
    const keySet = (purpose: string, labels: readonly string[]): SigningKeySet => {
      const keys = labels.map((label) => ({ label, key: createKey(purpose, label) }));
      exporter.addToRolePolicy(
        new PolicyStatement({ actions: ['kms:GetPublicKey'], resources: keys.map(({ key }) => key.keyArn) }),
      );
      const jwks = new CustomResource(this, `${purpose}Jwks`, {
        resourceType: 'Custom::SigningKeySet',
        serviceToken,
        serviceTimeout: Duration.minutes(2),
        properties: { Keys: keys.map(({ label, key }) => ({ Label: label, Arn: key.keyArn })) },
      });
      jwks.node.addDependency(exporter);
      return { signingKeyArn: keys[0]?.key.keyArn ?? '', jwks: jwks.getAttString('Jwks') };
    };
    this.accessToken = keySet('AccessToken', environment.signingKeyLabels.accessToken);
    this.userAction = keySet('UserAction', environment.signingKeyLabels.userAction);
  }
}
