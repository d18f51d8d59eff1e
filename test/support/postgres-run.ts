import { startPostgres } from '../../lib/local/postgres/postgres';

/** What the process of this file reports when PostgreSQL runs for it. */
export interface PostgresRun {
  readonly port: number;
  readonly password: string;
  readonly socketDirectory: string;
  readonly pid: number;
}

/** For a process of its own: runs PostgreSQL in the folder of its argument until it is told how to end. */
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
