import { join } from 'node:path';

/** Paths in the state folder. */
export type StateFolder = ReturnType<typeof stateFolder>;

/** Paths of one environment. */
export type EnvironmentFolder = ReturnType<StateFolder['environment']>;

export function stateFolder(directory: string) {
  return {
    directory,
    /** Has the format of `cdk deploy --outputs-file`; exists only while the environments run. */
    outputsFile: join(directory, 'outputs.json'),
    /** Endpoints of the local services for AWS SDKs, and of `./wallet local receive`; exists only while the environments run. */
    endpointsFile: join(directory, 'endpoints.json'),
    /** A folder for each environment. */
    logsDirectory: join(directory, 'logs'),
    /** The synthesized stacks. */
    assemblyDirectory: join(directory, 'cdk.out'),
    /** A PostgreSQL without data, the template for new environments. */
    emptyClusterDirectory: join(directory, 'empty-cluster'),
    environmentsDirectory: join(directory, 'environments'),
    certificatesDirectory: join(directory, 'certificates'),
    environment: (name: string) => {
      const own = join(directory, 'environments', name);
      return {
        directory: own,
        databaseDirectory: join(own, 'postgres'),
        keysDirectory: join(own, 'keys'),
        /** Custom resources as of the last start. */
        customResourcesFile: join(own, 'custom-resources.json'),
        /** Secret values. */
        secretsFile: join(own, 'secrets.json'),
        /** Messages of its queues while it is stopped. */
        messagesFile: join(own, 'messages.json'),
        logsDirectory: join(directory, 'logs', name),
      };
    },
  } as const;
}
