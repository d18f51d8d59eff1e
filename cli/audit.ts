import type { Command } from 'commander';
import type { AuditRecord } from '../domain/operations';
import { runOperation } from './operations-function';
import { type CommonOptions, id, withEnvironment } from './options';
import { openTarget, type Target } from './target';
import { type Terminal, table } from './terminal';

interface AuditOptions extends CommonOptions {
  readonly group: string;
}

const help = `
The records outlive the group. --json adds its organization and its name.

Examples:
  wallet audit --group ug-…
  wallet audit --environment uae --group ug-… --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('audit'))
    .summary('print what was done to a user group, and by whom')
    .description('Prints the audit records of a user group, the latest first, at most 100.')
    .requiredOption('--group <id>', 'the user group, deleted or not', id('ug'))
    .addHelpText('after', help)
    .action((options: AuditOptions) => audit(options, terminal));
}

async function audit({ group: userGroupId, ...options }: AuditOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  const records = await listAuditRecords(target, userGroupId);
  if (options.json) return terminal.result(JSON.stringify(records));
  const columns = ['date', 'operation', 'outcome', 'identityId', 'requestId'] as const;
  const rows = records.map((record) => columns.map((column) => record[column]));
  if (rows.length === 0) return terminal.note(`Nothing was recorded of ${userGroupId}.`);
  terminal.result(table([['DATE', 'OPERATION', 'OUTCOME', 'BY', 'REQUEST'], ...rows], terminal.bold));
}

/** What was done to a user group, the latest first: at most 100 records. */
export async function listAuditRecords(target: Target, userGroupId: string): Promise<readonly AuditRecord[]> {
  return (await runOperation(target, 'list-audit-records', { userGroupId })).records;
}
