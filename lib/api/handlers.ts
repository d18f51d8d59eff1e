import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import * as authorizeRequest from '../../lambda/authorize-request/environment';
import * as deleteUserGroup from '../../lambda/delete-user-group/environment';
import { DatabaseFunction } from '../database/database-function';
import type { SchemaMigration } from '../database/schema-migration';
import { accessTokenLifetime, type Environment } from '../environment';
import { HandlerFunction } from '../functions/handler-function';
import { deprecationHeaders } from './gateway-responses';
import type { SigningKeySet } from './signing-keys';

export interface AuthorizeRequestProps {
  readonly environment: Environment;
  /** Of access tokens. */
  readonly keys: SigningKeySet;
}

/** Verifies access tokens for the gateway. Needs no database. */
export class AuthorizeRequest extends HandlerFunction {
  constructor(scope: Construct, id: string, { environment, keys }: AuthorizeRequestProps) {
    super(scope, id, {
      useCase: 'authorize-request',
      description: 'Verifies access tokens',
      invokedBy: 'gateway',
      variables: authorizeRequest.variables,
      environment: {
        TOKEN_ISSUER: environment.tokenIssuer,
        TOKEN_KEYS: keys.jwks,
        TOKEN_LIFETIME: String(accessTokenLifetime(environment)),
      },
      timeout: Duration.seconds(5),
      logRetention: environment.logRetentionDays,
    });
  }
}

export interface DeleteUserGroupProps {
  readonly environment: Environment;
  readonly schema: SchemaMigration;
  /** Of user actions. */
  readonly keys: SigningKeySet;
}

/** Deletes a user group. */
export class DeleteUserGroup extends DatabaseFunction {
  constructor(scope: Construct, id: string, props: DeleteUserGroupProps) {
    const { environment, schema, keys } = props;
    super(scope, id, {
      useCase: 'delete-user-group',
      description: 'Deletes a user group',
      invokedBy: 'gateway',
      variables: deleteUserGroup.variables,
      environment: {
        TOKEN_ISSUER: environment.tokenIssuer,
        USER_ACTION_KEYS: keys.jwks,
        RESPONSE_HEADERS: JSON.stringify(deprecationHeaders(environment.deprecation)),
      },
      // The gateway waits 29 s at most; by then the function has answered.
      timeout: Duration.seconds(28),
      memorySize: 1024,
      logRetention: environment.logRetentionDays,
      schema,
      role: 'delete_user_group',
    });
  }
}
