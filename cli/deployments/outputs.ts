import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { type Environment, environmentNamed, recordedArn, sharedKeysOf } from '../../lib/environments';
import {
  listResources,
  openCloudFormation,
  outputsOf,
  requireDeployed,
  type StackResource,
} from '../shell/deployed-stack';
import { UsageError } from '../shell/failure';
import { writeJson } from '../shell/json';
import { environmentToWorkOn, path } from '../shell/options';
import type { Terminal } from '../shell/terminal';

interface OutputsOptions {
  readonly environment: string;
  readonly write?: string;
}

export function register(program: Command, terminal: Terminal): void {
  program
    .command('outputs')
    .addOption(environmentToWorkOn())
    .option('--write <file>', 'write to this file instead of stdout', path)
    .summary('print or write the outputs file of a deployed environment')
    .description('Print the outputs of the serving stack in the format of "cdk deploy --outputs-file".')
    .action((options: OutputsOptions) => outputs(options, terminal));
}

async function outputs({ environment, write: file }: OutputsOptions, terminal: Terminal): Promise<void> {
  if (file && existsSync(join(dirname(file), 'endpoints.json')))
    throw new UsageError(
      `${file} is beside endpoints.json: commands would read it as a local environment's.`,
      'Choose another folder.',
    );
  const row = environmentNamed(environment) as Environment;
  const { stackId, region, standby } = row;
  const client = await openCloudFormation(region);
  const stack = await requireDeployed(client, stackId);
  const values = outputsOf(stack);
  if (standby) {
    noteAddress(row, values.WebhookOriginAddress, terminal);
    if (row.multiRegionKeys)
      noteKeys(row, standby, stack.StackId ?? '', await listResources(client, stackId), terminal);
  }
  const content = { [stackId]: values };
  if (file === undefined) return terminal.result(JSON.stringify(content, undefined, 2));
  writeJson(file, content);
  terminal.note(`Wrote ${file}.`);
}

/** Prints the line of the stack's address, if the row does not have it: its region cannot be asked after its loss. */
function noteAddress(
  { originAddress, adoptedElasticIp }: Environment,
  address: string | undefined,
  { note }: Terminal,
): void {
  if (!address || [originAddress, adoptedElasticIp?.address].includes(address)) return;
  note(`Record the address, in the row of lib/environments.ts:\noriginAddress: '${address}',`);
}

/** Prints what the row should record of the stack's keys, if it does not yet: the standby replicates them. */
function noteKeys(
  row: Environment,
  { keys, adoptedKeys }: NonNullable<Environment['standby']>,
  stackArn: string,
  resources: readonly StackResource[],
  { note }: Terminal,
): void {
  const account = stackArn.split(':')[4];
  const deployed = sharedKeysOf(row).flatMap((key) => {
    const id = resources.find(({ logicalId }) => logicalId === key.logicalId)?.physicalId;
    const created = id && `arn:aws:kms:${row.region}:${account}:key/${id}`;
    const arn = recordedArn(row.keyReplicas, key) ?? recordedArn(row.adoptedKeys, key) ?? created;
    return arn ? [{ ...key, arn }] : [];
  });
  if (deployed.every((key) => recordedArn(keys, key) === key.arn || recordedArn(adoptedKeys, key))) return;
  const lines = (['webhookSecrets', 'accessToken', 'userAction'] as const).map((purpose) => {
    const own = deployed.filter((key) => key.purpose === purpose);
    const entries = own.map(({ label, arn }) => (label ? `'${label}': '${arn}'` : `'${arn}'`));
    return `  ${purpose}: ${purpose === 'webhookSecrets' ? entries : `{ ${entries.join(', ')} }`},`;
  });
  const heading = 'Record the keys for the standby, in the row of lib/environments.ts:';
  note([heading, 'keys: {', ...lines, '},'].join('\n'));
}
