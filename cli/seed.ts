import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { runOperation } from './operations-function';
import { type CommonOptions, id, withEnvironment } from './options';
import { walletCommand } from './pasted-command';
import { allowProduction, requireProductionAllowed } from './production-guard';
import { openTarget } from './target';
import type { Terminal } from './terminal';

interface SeedOptions extends CommonOptions {
  readonly organization?: string;
  readonly allowProduction?: boolean;
}

const help = `
The caller (CustomerEmployee) and the service account may delete the group. The end user holds the same permission
and may not, because of its kind.

Examples:
  wallet local seed                                            a new organization in eu
  wallet local seed --environment uae --json                   the same in uae, for a program to read
  wallet local seed --organization or-…                        one more group, with the identities there are`;

const fields = [
  'organizationId',
  'callerId',
  'serviceAccountId',
  'endUserId',
  'userGroupId',
  'userGroupName',
] as const;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('seed'))
    .summary('make an organization, identities and a user group')
    .description('Makes an organization with three identities and a user group, and prints their ids.')
    .option('--organization <id>', 'add a user group to this organization, which "seed" made', id('or'))
    .addOption(allowProduction())
    .addHelpText('after', help)
    .action((options: SeedOptions) => seed(options, terminal));
}

async function seed(options: SeedOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  requireProductionAllowed(target, options, 'what "seed" makes stays there');
  const organizationId = options.organization;
  const userGroupName = `Approvers ${randomBytes(3).toString('hex')}`;
  const seeded = organizationId
    ? await runOperation(target, 'add-user-group', { organizationId, userGroupName })
    : await runOperation(target, 'seed', { userGroupName });
  if (options.json) return terminal.result(JSON.stringify(seeded));
  terminal.result(fields.map((field) => `${field.padEnd(16)}  ${seeded[field]}`).join('\n'));
  const command = walletCommand('delete-group', options);
  terminal.note(
    `\nDelete the group:\n  ${command} --group ${seeded.userGroupId} --caller ${seeded.callerId}`,
  );
}
