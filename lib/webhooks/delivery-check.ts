import { Duration, Fn } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { variables } from '../../lambda/check-delivery/variables';
import { deprecationHeaders } from '../api/gateway-responses';
import type { Environment } from '../environment/schema';
import { HandlerFunction } from '../functions/handler-function';
import type { WebhookOrigin } from '../network/webhook-origin';

export interface DeliveryCheckProps {
  readonly environment: Environment;
  readonly webhookOrigin: WebhookOrigin;
  /** Derives the webhooks' secrets. */
  readonly secretsKey: IKey;
}

/** The function behind the environment's own receiver: no VPC, no database, one key. */
export class DeliveryCheck extends HandlerFunction {
  constructor(scope: Construct, id: string, { environment, webhookOrigin, secretsKey }: DeliveryCheckProps) {
    super(scope, id, {
      useCase: 'check-delivery',
      description: "Checks deliveries to the environment's own receiver",
      invokedBy: 'gateway',
      variables,
      environment: {
        ENVIRONMENT: environment.name,
        PUBLISHED_ADDRESSES: Fn.join(',', [...webhookOrigin.published]),
        WEBHOOK_SECRETS_KEY_ID: secretsKey.keyArn,
        RESPONSE_HEADERS: JSON.stringify(deprecationHeaders(environment.deprecation)),
      },
      // KMS answers within 5 s or not at all.
      timeout: Duration.seconds(10),
      logRetention: environment.logRetentionDays,
    });
    this.addToRolePolicy(
      new PolicyStatement({ actions: ['kms:GenerateMac'], resources: [secretsKey.keyArn] }),
    );
  }
}
