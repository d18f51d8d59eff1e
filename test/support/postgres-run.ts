import { startPostgres } from '../../local/postgres/postgres';

/** The message of this process when its PostgreSQL runs or fails to start. */
export interface PostgresRun {
  readonly error?: string;
  readonly port: number;
  readonly password: string;
  readonly socketDirectory: string;
  readonly pid: number;
}

/** A process that starts PostgreSQL in the folder of its argument, and waits to be killed. */
process.on('disconnect', () => process.exit());
startPostgres({ directory: process.argv[2] ?? '' })
  .then(({ port, password, socketDirectory, pid }) => ({ port, password, socketDirectory, pid }))
  .catch((error: Error) => ({ error: error.message }))
  .then((message) => process.send?.(message));
