import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { OutputName } from '../domain/outputs';
import type { Environment } from '../lib/environments';
import { environmentNamed, environments } from '../lib/environments';
import { CommandFailed } from './failure';
import type { EnvironmentOptions } from './options';
import { inProject, startCommand, walletCommand } from './pasted-command';
import type { Terminal } from './terminal';

/** Stack outputs by stack name: the file of `cdk deploy --outputs-file` and of `npm start`. */
type Outputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * What every AWS client of the command line is made with. The SDK reads `AWS_ENDPOINT_URL` and its like by itself.
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
 */
export interface ClientSettings {
  readonly region: string;
  readonly streamCollector: typeof readAwsAnswer;
  /** Of SQS: the host in a queue's URL would come before `AWS_ENDPOINT_URL`. */
  readonly useQueueUrlAsEndpoint: false;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** The AWS services that the command line calls, as `endpoints.json` names them. */
type Service = 'cloudformation' | 'cloudwatch' | 'ec2' | 'kms' | 'lambda' | 'sqs';

/** One environment that was deployed, to AWS or to this machine. */
export interface Target {
  readonly environment: Environment;
  /** Whether it runs on this machine: `npm start` wrote its outputs. */
  readonly local: boolean;
  /** Where its functions' logs are: a folder of this machine, or `CloudWatch`. */
  readonly logs: string;
  /** A command on this environment, to be pasted into a shell. */
  paste(command: string): string;
  /** Writes to stderr. */
  note(text: string): void;
  /** @throws CommandFailed when the stack has no such output. */
  output(name: OutputName): string;
  /** Of an output that only some stacks have. */
  optionalOutput(name: OutputName): string | undefined;
  /** Whether the service can be called. A region has them all; this machine has what is emulated here. */
  offers(service: Service): boolean;
  /** The region's real endpoint and the SDK's usual credentials, or those of this machine. */
  clientSettings(service: Service): ClientSettings;
}

export async function openTarget(
  { environment: name, outputs: file }: EnvironmentOptions,
  { note }: Pick<Terminal, 'note'>,
): Promise<Target> {
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
      endpoints
        ? `Restart the environments: ${startCommand}`
        : 'The stack was deployed by another version: deploy this one, or use the command line of that version.',
    );
  };
  return {
    environment,
    local: endpoints !== undefined,
    note,
    paste: (command) => walletCommand(command, { environment: name, outputs: file }),
    logs: endpoints ? join(dirname(file), 'logs', name) : 'CloudWatch',
    output: (output) => stack[output] ?? missing(`Stack ${stackId} in ${file} has no output ${output}.`),
    optionalOutput: (output) => stack[output],
    offers: (service) => !endpoints || endpoints[service] !== undefined,
    clientSettings: (service) => ({
      ...clientSettings(region),
      ...(endpoints && {
        endpoint: endpoints[service] ?? missing(`endpoints.json names no endpoint for "${service}".`),
        // The local services ask for a signature, as AWS does, but take anyone's.
        credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      }),
    }),
  };
}

/** For the region's real endpoints and the SDK's usual credentials. */
export const clientSettings = (region: string): ClientSettings => ({
  region,
  streamCollector: readAwsAnswer,
  useQueueUrlAsEndpoint: false,
});

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
    throw new Error('it is no JSON object');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CommandFailed(`${file} cannot be read: ${message}.`, 'The file is damaged; recreate it.');
  }
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Reads an answer for the SDK, which takes a page or an empty body with status 200 for an answer without any field:
 * no address, no message, no stack. Errors it reports by itself.
 *
 * @throws SyntaxError, to which the SDK adds the response
 */
async function readAwsAnswer(answer: IncomingMessage): Promise<Uint8Array> {
  const body = await buffer(answer);
  if ((answer.statusCode ?? 0) >= 300) return body;
  const isPage =
    answer.headers['content-type']?.includes('html') ||
    /^\s*<(!doctype\s+html|html)\b/i.test(body.toString('utf8', 0, 200));
  // AWS answers some calls, such as sqs:DeleteMessage, with no content, and each with the request's id.
  const isEmpty = body.length === 0 && !answer.headers['x-amzn-requestid'];
  if (isPage || isEmpty) throw new SyntaxError(isPage ? 'a page' : 'no content');
  return body;
}
