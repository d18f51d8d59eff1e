import type { CfnResource } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { DatabaseRole } from '../../lambda/database/variables';
import { HandlerFunction, type HandlerFunctionProps } from '../functions/handler-function';
import type { SchemaMigration } from './schema-migration';

export interface DatabaseFunctionProps<Name extends string = string>
  extends Omit<HandlerFunctionProps<Name>, 'databaseAccess' | 'files'> {
  readonly schema: SchemaMigration;
  readonly role: DatabaseRole;
}

/**
 * A function that signs in to the database as one role: with the database's network (unless it has its own), permissions and
 * variables, created or updated after the migration.
 */
export class DatabaseFunction<Name extends string = string> extends HandlerFunction<Name> {
  constructor(scope: Construct, id: string, { schema, role, ...props }: DatabaseFunctionProps<Name>) {
    const { database } = schema;
    super(scope, id, { network: database.network, ...props, ...database.bundle });
    database.grantAccess(this, role);
    (this.node.defaultChild as CfnResource).addResourceDependency(schema.resource);
  }
}
