import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { variables } from '../../lambda/run-operation/environment';
import type { Environment } from '../environment';
import { HandlerFunction } from '../functions/handler-function';
import type { RegionDatabase } from './region-database';
import type { SchemaMigration } from './schema-migration';

export interface RunOperationProps {
  readonly environment: Environment;
  readonly database: RegionDatabase;
  /** Has to be done before the function meets the schema. */
  readonly migration: SchemaMigration;
}

/** Carries out what the operator's command line reads and writes in the database. */
export class RunOperation extends HandlerFunction {
  constructor(scope: Construct, id: string, { environment, database, migration }: RunOperationProps) {
    super(scope, id, {
      useCase: 'run-operation',
      description: "Carries out the operations of the operator's command line",
      invokedBy: 'operator',
      variables,
      environment: { ENVIRONMENT: environment.name },
      timeout: Duration.seconds(30),
      logRetention: environment.logRetentionDays,
      network: database.network,
      ...database.bundle,
    });
    database.grantAccess(this, 'run_operation');
    migration.precede(this);
  }
}
