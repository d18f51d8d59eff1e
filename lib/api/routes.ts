import { Duration, Fn, type Stack } from 'aws-cdk-lib';
import type { FunctionOperation, Operation } from '../../domain/routes';
import { variables as checkDeliveryVariables } from '../../lambda/check-delivery/variables';
import { variables as deleteUserGroupVariables } from '../../lambda/delete-user-group/variables';
import type { acknowledge } from '../checks/acknowledgements';
import { DatabaseFunction } from '../database/database-function';
import type { SchemaMigration } from '../database/schema-migration';
import { checkThrottle, type Environment } from '../environment/schema';
import { HandlerFunction } from '../functions/handler-function';
import type { WebhookOrigin } from '../network/webhook-origin';
import { deprecationHeaders } from './gateway-responses';
import type { SigningKeys } from './signing-keys';

/** What the functions of routes are made of. */
interface RouteParts {
  readonly stack: Stack;
  readonly environment: Environment;
  readonly schema: SchemaMigration;
  readonly keys: SigningKeys;
  readonly webhookOrigin: WebhookOrigin;
  readonly secretsKeyArn: string;
}

interface Route {
  /** Whether the authorizer verifies an access token first. */
  readonly requiresToken: boolean;
  /** The method's own throttle. @default - the stage's, the row's `throttle` */
  readonly throttle?: (environment: Environment) => Environment['throttle'];
  /** Whether its requests have metrics of their own, which are paid for, and its refusals one by code. @default false */
  readonly isMeasured?: boolean;
  /** Why the rule pack's findings on the method are accepted. */
  readonly acknowledged: Parameters<typeof acknowledge>[1];
}

interface FunctionRoute extends Route {
  readonly createFunction: (parts: RouteParts) => HandlerFunction;
  /** The alarm that reports its failures. `function-errors` stands for one of its own. */
  readonly alarm: 'function-errors' | 'webhooks-unproven';
}

/** What stands behind each route in AWS; one that is missing does not compile. Without a function, the gateway responds itself. */
export const routeTable: Readonly<
  Record<FunctionOperation, FunctionRoute> & Record<Exclude<Operation, FunctionOperation>, Route>
> = {
  deleteUserGroup: {
    createFunction: ({ stack, environment, schema, keys }) =>
      new DatabaseFunction(stack, 'DeleteUserGroup', {
        handlerName: 'delete-user-group',
        description: 'Deletes a user group',
        variables: deleteUserGroupVariables,
        environment: {
          TOKEN_ISSUER: environment.tokenIssuer,
          USER_ACTION_KEYS: keys.userAction.jwks,
          RESPONSE_HEADERS: responseHeaders(environment),
        },
        // Below the gateway's timeout of 29 s.
        timeout: Duration.seconds(28),
        memorySize: 1024,
        logRetention: environment.logRetentionDays,
        schema,
        role: 'delete_user_group',
      }),
    requiresToken: true,
    acknowledged: 'methodWithToken',
    isMeasured: true,
    alarm: 'function-errors',
  },
  listWebhookOrigins: { requiresToken: false, acknowledged: 'publicMethod' },
  headWebhookOrigins: { requiresToken: false, acknowledged: 'publicMethod' },
  /** The environment's own receiver: no VPC, no database, one key. The function checks what a token would. */
  checkDelivery: {
    createFunction: ({ stack, environment, webhookOrigin, secretsKeyArn }) => {
      const handler = new HandlerFunction(stack, 'CheckDelivery', {
        handlerName: 'check-delivery',
        description: "Checks deliveries to the environment's own receiver",
        variables: checkDeliveryVariables,
        environment: {
          ENVIRONMENT: environment.name,
          PUBLISHED_ADDRESSES: Fn.join(',', [...webhookOrigin.published]),
          FORMER_ADDRESS: environment.formerAddress ?? 'none',
          WEBHOOK_SECRETS_KEY_ID: secretsKeyArn,
          RESPONSE_HEADERS: responseHeaders(environment),
        },
        // KMS answers within 5 s or not at all.
        timeout: Duration.seconds(10),
        logRetention: environment.logRetentionDays,
      });
      handler.allow(['kms:GenerateMac'], secretsKeyArn);
      return handler;
    },
    requiresToken: false,
    throttle: checkThrottle,
    acknowledged: 'methodWithSignature',
    alarm: 'webhooks-unproven',
  },
};

const responseHeaders = ({ deprecation }: Environment) => JSON.stringify(deprecationHeaders(deprecation));

export type RouteFunctions = Readonly<Record<FunctionOperation, HandlerFunction>>;

export const functionRoutes = Object.entries(routeTable).flatMap(([operation, route]) =>
  'createFunction' in route ? [[operation as FunctionOperation, route] as const] : [],
);

export const createRouteFunctions = (parts: RouteParts) =>
  Object.fromEntries(
    functionRoutes.map(([operation, { createFunction }]) => [operation, createFunction(parts)]),
  ) as RouteFunctions;
