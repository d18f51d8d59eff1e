import type { Command } from 'commander';
import type { AuditRecord } from '../domain/operations';
import { environmentCommand } from './environment-command';
import { runOperation } from './operations-function';
import { id } from './options';
import type { Target } from './target';
import { type Terminal, table } from './terminal';

const help = `The records outlive the group. --json adds its organization and its name.

Examples:
  wallet audit --group ug-…
  wallet audit --environment uae --group ug-… --json`;

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<{ readonly group: string }>(program, terminal, 'audit', {
    summary: 'print what was done to a user group, and by whom, the latest first',
    help,
    async run(target, { group, json }, print) {
      const records = await listAuditRecords(target, group);
      if (!json && records.length === 0) return target.note(`No audit records of ${group}.`);
      const fields = ['date', 'operation', 'outcome', 'identityId', 'requestId'] as const;
      const rows = records.map((record) => fields.map((field) => record[field]));
      print(records, () =>
        table([['DATE', 'OPERATION', 'OUTCOME', 'BY', 'REQUEST'], ...rows], terminal.bold),
      );
    },
  }).requiredOption('--group <id>', 'the user group, deleted or not', id('ug'));
}

/** What was done to a user group, the latest first: at most 100 records. */
export async function listAuditRecords(target: Target, userGroupId: string): Promise<readonly AuditRecord[]> {
  return (await runOperation(target, 'list-audit-records', { userGroupId })).records;
}
