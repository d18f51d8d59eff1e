import { CustomResource, Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { type Environment, sharedKeysOf } from '../environment/schema';
import { DeploymentProvider } from '../functions/deployment-provider';
import { HandlerFunction } from '../functions/handler-function';
import { createSharedKey } from '../shared-key';

/** Keys for one purpose: the first signs, all verify. */
export interface SigningKeySet {
  readonly signingKeyArn: string;
  /** The public keys as a JWKS document; known at deployment. */
  readonly jwks: string;
}

/** KMS keys (ECDSA on P-256), and their public keys, exported during deployment so that functions verify offline. */
export class SigningKeys extends Construct {
  readonly accessToken: SigningKeySet;
  readonly userAction: SigningKeySet;

  constructor(scope: Construct, id: string, { environment }: { readonly environment: Environment }) {
    super(scope, id);
    const exporter = new HandlerFunction(this, 'ExportJwks', {
      handlerName: 'export-jwks',
      description: 'Exports the public halves of signing keys',
      variables: [],
      environment: {},
      timeout: Duration.seconds(30),
      logRetention: environment.logRetentionDays,
    });
    const { serviceToken } = new DeploymentProvider(this, 'Provider', exporter);
    const keySet = (purpose: 'accessToken' | 'userAction', id: string): SigningKeySet => {
      const keys = sharedKeysOf(environment)
        .filter((key) => key.purpose === purpose)
        .map((key) => ({ Label: key.label, Arn: createSharedKey(this, environment, key) }));
      exporter.allow(['kms:GetPublicKey'], ...keys.map(({ Arn }) => Arn));
      const jwks = new CustomResource(this, id, {
        resourceType: 'Custom::SigningKeySet',
        serviceToken,
        serviceTimeout: Duration.minutes(2),
        properties: { Keys: keys },
      });
      jwks.node.addDependency(exporter);
      return { signingKeyArn: keys[0]?.Arn ?? '', jwks: jwks.getAttString('Jwks') };
    };
    this.accessToken = keySet('accessToken', 'AccessTokenJwks');
    this.userAction = keySet('userAction', 'UserActionJwks');
  }
}
