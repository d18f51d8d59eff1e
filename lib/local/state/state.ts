import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where everything lies that a local environment keeps between runs. */
export interface StateFolder {
  readonly directory: string;
  /** In the shape of `cdk deploy --outputs-file`; there only while the environments run. */
  readonly outputsFile: string;
  /** Where an AWS SDK finds the local services; there only while the environments run. */
  readonly endpointsFile: string;
  /** The synthesized stacks. */
  readonly assemblyDirectory: string;
  readonly certificatesDirectory: string;
  environment(name: string): EnvironmentFolder;
}

/** The part of one environment: nothing in it is shared with another. */
export interface EnvironmentFolder {
  readonly directory: string;
  readonly databaseDirectory: string;
  readonly keysDirectory: string;
  /** Custom resources as they were last carried out. */
  readonly customResourcesFile: string;
  /** Values of the secrets. */
  readonly secretsFile: string;
  readonly logsDirectory: string;
}

export function stateFolder(directory: string): StateFolder {
  return {
    directory,
    outputsFile: join(directory, 'outputs.json'),
    endpointsFile: join(directory, 'endpoints.json'),
    assemblyDirectory: join(directory, 'cdk.out'),
    certificatesDirectory: join(directory, 'certificates'),
    environment: (name) => {
      const own = join(directory, 'environments', name);
      return {
        directory: own,
        databaseDirectory: join(own, 'postgres'),
        keysDirectory: join(own, 'keys'),
        customResourcesFile: join(own, 'custom-resources.json'),
        secretsFile: join(own, 'secrets.json'),
        logsDirectory: join(directory, 'logs', name),
      };
    },
  };
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
      `${file} is damaged. Start over with --fresh: the environment's data go by what was in it, and go with it.`,
      { cause },
    );
  }
}

export function removeFile(file: string): void {
  rmSync(file, { force: true });
}
