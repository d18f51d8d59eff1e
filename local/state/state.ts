import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from '../../lib/environment/environment';
import { restoreSuffix } from '../../lib/environment/restore';

/** Where a local environment keeps everything between runs. */
export type StateFolder = ReturnType<typeof stateFolder>;

/** The part of one environment: it shares nothing with another's. */
export type EnvironmentFolder = ReturnType<StateFolder['environment']>;

export function stateFolder(directory: string) {
  return {
    directory,
    /** In the shape of `cdk deploy --outputs-file`; there only while the environments run. */
    outputsFile: join(directory, 'outputs.json'),
    /** Where an AWS SDK finds the local services; there only while the environments run. */
    endpointsFile: join(directory, 'endpoints.json'),
    /** A folder for each environment. */
    logsDirectory: join(directory, 'logs'),
    /** The synthesized stacks. */
    assemblyDirectory: join(directory, 'cdk.out'),
    certificatesDirectory: join(directory, 'certificates'),
    /** Copies of the folders of databases, for environments that are restored. */
    snapshotsDirectory: join(directory, 'snapshots'),
    environment: ({ name, database }: Pick<Environment, 'name' | 'database'>) => {
      const own = join(directory, 'environments', name);
      return {
        directory: own,
        /** Each restore has its own, and the one before it stays. */
        databaseDirectory: join(own, `postgres${restoreSuffix(database)}`),
        keysDirectory: join(own, 'keys'),
        /** Custom resources as they were last applied. */
        customResourcesFile: join(own, 'custom-resources.json'),
        /** Values of the secrets. */
        secretsFile: join(own, 'secrets.json'),
        logsDirectory: join(directory, 'logs', name),
      };
    },
  } as const;
}

/** Writes a JSON document so that a reader sees the old one or the new one, never a part. Only the owner may read it. */
export function writeJson(file: string, document: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** Reads a JSON document; undefined when there is none. */
export function readJson<T>(file: string): T | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new Error(
      `${file} is damaged. Start over with --fresh, which also removes the environment's data: they depend on this file.`,
      { cause },
    );
  }
}

export function removeFile(file: string): void {
  rmSync(file, { force: true });
}
