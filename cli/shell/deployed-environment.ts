import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { OutputName } from '../../domain/outputs';
import { type Environment, environmentNamed, environments } from '../../lib/environments';
import { clientSettings, localClientSettings } from './aws';
import { CommandFailed } from './failure';
import { readJson } from './json';
import { type CommonOptions, withEnvironment } from './options';
import type { Terminal } from './terminal';
import { type EnvironmentOptions, localOutputs, walletCommand } from './wallet-command';

export type DeployedEnvironment = Awaited<ReturnType<typeof openEnvironment>>;

export async function openEnvironment(
  { environment: name, outputs: file }: EnvironmentOptions,
  { note }: Pick<Terminal, 'note'>,
) {
  const outputs = readOutputs(file);
  const environment = environmentNamed(name) as Environment;
  const { stackId, region } = environment;
  const stack = outputs[stackId];
  // Only `npm start` writes it, beside the outputs.
  const endpointsFile = join(dirname(file), 'endpoints.json');
  const endpoints = existsSync(endpointsFile) ? readJson(endpointsFile, outputsRemedy) : undefined;
  if (!stack && endpoints) {
    const running = environments.filter((each) => outputs[each.stackId]).map((each) => each.name);
    throw new CommandFailed(
      `Environment ${name} is not running on this machine.`,
      `Choose a running one with --environment (${running.join(', ')}), or start all: npm start`,
    );
  }
  if (!stack)
    throw new CommandFailed(
      `${file} has no outputs of environment ${name} (stack ${stackId}). It has: ${Object.keys(outputs).join(', ') || 'none'}.`,
      `Name the right file with --outputs, or deploy the stack: npx cdk deploy ${stackId} --outputs-file FILE`,
    );
  const missing = (what: string): never => {
    throw new CommandFailed(what, endpoints ? `Restart the environments: npm start` : otherVersionRemedy);
  };
  return {
    environment,
    local: endpoints !== undefined,
    note,
    /** A command on this environment, ready to paste into a shell. */
    walletCommand: (command: string) => walletCommand(command, { environment: name, outputs: file }),
    /** Where `local receive` listens by default: the port moves with those of `npm start`. */
    receiverPort: Number(new URL(endpoints?.['webhook-receiver'] ?? 'http://127.0.0.1:8010/').port),
    logs: endpoints ? join(dirname(file), 'logs', name) : 'CloudWatch',
    output: (output: OutputName): string =>
      stack[output] ?? missing(`Stack ${stackId} in ${file} has no output ${output}.`),
    optionalOutput: (output: OutputName): string | undefined => stack[output],
    /** The region's real endpoint and the SDK's usual credentials, or those of this machine. */
    clientSettings: (service: string) =>
      endpoints
        ? localClientSettings(
            region,
            endpoints[service] ?? missing(`endpoints.json has no endpoint for "${service}".`),
          )
        : clientSettings(region),
  };
}

export const otherVersionRemedy =
  'The stack was deployed by another version: deploy this one, or use the command line of that version.';

const outputsRemedy = `With --outputs, name the file that "cdk deploy --outputs-file" wrote, or start the environments of this machine: npm start`;

/** Stack outputs by stack name: the file of `cdk deploy --outputs-file` and of `npm start`. */
export function readOutputs(file: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  if (file === localOutputs && !existsSync(file))
    throw new CommandFailed(
      'No environments run on this machine.',
      `Start them: npm start\nFor a deployed one, name the file that "cdk deploy --outputs-file" wrote with --outputs.`,
    );
  return readJson(file, outputsRemedy);
}

export interface Definition<Options> {
  /** Starts with an imperative and has no full stop. */
  readonly summary: string;
  /** Text below the options of --help. @default - none */
  readonly help?: string;
  /** Why the command requires --allow-production in a deployed environment with an SLA, unless it is a dry run. @default - it changes nothing there */
  readonly production?: string;
  /** @param print prints the result: the value with --json, the text otherwise */
  run(
    target: DeployedEnvironment,
    options: Options & CommonOptions,
    print: (value: unknown, text: () => string) => void,
  ): Promise<void>;
}

export function environmentCommand<Options>(
  parent: Command,
  terminal: Terminal,
  name: string,
  { summary, help, production, run }: Definition<Options>,
): Command {
  const command = withEnvironment(parent.command(name))
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
  if (help) command.addHelpText('after', `\n${help}`);
  if (production) command.option('--allow-production', 'allow changes to a deployed environment with an SLA');
  type Given = Options & CommonOptions & { readonly allowProduction?: boolean; readonly dryRun?: boolean };
  return command.action(async (options: Given) => {
    const target = await openEnvironment(options, terminal);
    const { local, environment } = target;
    const isAllowed =
      local || !environment.serviceLevelAgreement || options.allowProduction || options.dryRun;
    if (production && !isAllowed)
      throw new CommandFailed(
        `Environment ${environment.name} is in production: ${production}.`,
        'To proceed, add --allow-production.',
      );
    await run(target, options, (value, text) =>
      terminal.result(options.json ? JSON.stringify(value) : text()),
    );
  });
}
