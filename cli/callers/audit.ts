import type { Command } from 'commander';
import { environmentCommand } from '../shell/deployed-environment';
import { runOperation } from '../shell/operations';
import { id } from '../shell/options';
import { type Terminal, table } from '../shell/terminal';

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<{ readonly group: string }>(program, terminal, 'audit', {
    summary: 'print the audit records of a user group, latest first',
    help: 'Prints up to 100 records, also of deleted groups. --json adds organization and name.',
    async run(target, { group: userGroupId, json }, print) {
      const { records } = await runOperation(target, 'list-audit-records', { userGroupId });
      if (!json && records.length === 0) return target.note(`No audit records of ${userGroupId}.`);
      const fields = ['date', 'operation', 'outcome', 'identityId', 'requestId'] as const;
      const rows = records.map((record) => fields.map((field) => record[field]));
      print(records, () => table([['DATE', 'OPERATION', 'OUTCOME', 'BY', 'REQUEST'], ...rows], terminal));
    },
  }).requiredOption('--group <id>', 'the user group, deleted or not', id('ug'));
}
