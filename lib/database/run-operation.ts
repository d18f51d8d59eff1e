import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { variables } from '../../lambda/run-operation/environment';
import type { Environment } from '../environment';
import { DatabaseFunction } from './database-function';
import type { SchemaMigration } from './schema-migration';

export interface RunOperationProps {
  readonly environment: Environment;
  readonly schema: SchemaMigration;
}

/** Carries out what the operator's command line reads and writes in the database. */
export class RunOperation extends DatabaseFunction {
  constructor(scope: Construct, id: string, { environment, schema }: RunOperationProps) {
    super(scope, id, {
      useCase: 'run-operation',
      description: "Carries out the operations of the operator's command line",
      invokedBy: 'operator',
      variables,
      environment: { ENVIRONMENT: environment.name },
      timeout: Duration.seconds(30),
      logRetention: environment.logRetentionDays,
      schema,
      role: 'run_operation',
    });
  }
}
