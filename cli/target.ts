import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OutputName } from '../domain/outputs';
import { type Environment, environmentNamed, environments } from '../lib/environments';
import { clientSettings } from './aws';
import { CommandFailed } from './failure';
import type { EnvironmentOptions } from './options';
import { inProject, startCommand, walletCommand } from './pasted-command';
import type { Terminal } from './terminal';

/** Stack outputs by stack name: the file of `cdk deploy --outputs-file` and of `npm start`. */
type Outputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** One environment that was deployed, to AWS or to this machine. */
export type Target = Awaited<ReturnType<typeof openTarget>>;

export async function openTarget(
  { environment: name, outputs: file }: EnvironmentOptions,
  { note }: Pick<Terminal, 'note'>,
) {
  const outputs = await readOutputs(file);
  const environment = environmentNamed(name) as Environment;
  const { stackId, region } = environment;
  const stack = outputs[stackId];
  if (!stack)
    throw new CommandFailed(
      `${file} has no outputs of environment ${name} (stack ${stackId}). It has: ${Object.keys(outputs).join(', ') || 'none'}.`,
      `Give the file that has them with --outputs, or deploy it: ${inProject(`npx cdk deploy ${stackId} --outputs-file FILE`)}`,
    );
  // `npm start` writes it beside the outputs; a deployment writes none.
  const endpoints = await readObject<string>(join(dirname(file), 'endpoints.json'));
  const missing = (what: string): never => {
    throw new CommandFailed(
      what,
      endpoints ? `Restart the environments: ${startCommand}` : otherVersionRemedy,
    );
  };
  return {
    environment,
    /** Whether it runs on this machine. */
    local: endpoints !== undefined,
    /** Writes to stderr. */
    note,
    /** A command on this environment, to be pasted into a shell. */
    paste: (command: string) => walletCommand(command, { environment: name, outputs: file }),
    /** Where its functions' logs are. */
    logs: endpoints ? join(dirname(file), 'logs', name) : 'CloudWatch',
    /** @throws CommandFailed when the stack has no such output */
    output: (output: OutputName): string =>
      stack[output] ?? missing(`Stack ${stackId} in ${file} has no output ${output}.`),
    /** Of an output that only some stacks have. */
    optionalOutput: (output: OutputName): string | undefined => stack[output],
    /** The region's real endpoint and the SDK's usual credentials, or those of this machine. */
    clientSettings: (service: string) => ({
      ...clientSettings(region),
      ...(endpoints && {
        endpoint: endpoints[service] ?? missing(`endpoints.json names no endpoint for "${service}".`),
        // The local services need a signature, but accept any.
        credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      }),
    }),
  };
}

export const otherVersionRemedy =
  'The stack was deployed by another version: deploy this one, or use the command line of that version.';

/**
 * The environments that a file of stack outputs has, in the order of the table.
 *
 * @throws CommandFailed when it has none
 */
export async function readEnvironments(file: string): Promise<readonly Environment[]> {
  const outputs = await readOutputs(file);
  const found = environments.filter(({ stackId }) => outputs[stackId]);
  if (found.length > 0) return found;
  throw new CommandFailed(
    `${file} has no outputs of any environment. It has: ${Object.keys(outputs).join(', ') || 'none'}.`,
    outputsRemedy,
  );
}

const outputsRemedy = `Name the file that "cdk deploy --outputs-file" wrote with --outputs, or start the environments of this machine: ${startCommand}`;

async function readOutputs(file: string): Promise<Outputs> {
  const outputs = await readObject<Outputs[string]>(file);
  if (!outputs) throw new CommandFailed(`There is no outputs file ${file}.`, outputsRemedy);
  if (Object.values(outputs).every(isObject)) return outputs;
  throw new CommandFailed(
    `${file} is not a file of stack outputs: {"STACK": {"OUTPUT": "value"}}.`,
    outputsRemedy,
  );
}

/** @returns undefined when there is no such file */
async function readObject<Value>(file: string): Promise<Readonly<Record<string, Value>> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (isObject(value)) return value as Readonly<Record<string, Value>>;
    throw new Error('it is not a JSON object');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CommandFailed(`${file} cannot be read: ${message}.`, 'The file is damaged; recreate it.');
  }
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
