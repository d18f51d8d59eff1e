import { startPostgres } from '../../local/postgres/postgres';

/** The message of this file's process when its PostgreSQL runs. */
export interface PostgresRun {
  readonly port: number;
  readonly password: string;
  readonly socketDirectory: string;
  readonly pid: number;
}

/** Run as a process: starts PostgreSQL in the folder of its argument, and ends as it is told. */
async function main(): Promise<void> {
  const postgres = await startPostgres({ directory: process.argv[2] ?? '' });
  process.on('message', (end) =>
    (end === 'stop' ? postgres.stop() : Promise.resolve()).then(() => process.exit()),
  );
  process.on('disconnect', () => process.exit());
  const { port, password, socketDirectory, pid } = postgres;
  process.send?.({ port, password, socketDirectory, pid } satisfies PostgresRun);
}

main().catch((error: Error) => process.send?.({ error: error.message }, () => process.exit(1)));
