import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { environmentCommand } from '../shell/deployed-environment';
import { runOperation } from '../shell/operations';
import { columns, type Terminal } from '../shell/terminal';

export function register(program: Command, terminal: Terminal): void {
  environmentCommand(program, terminal, 'seed', {
    summary: 'create an organization with three identities and a user group, and print the ids',
    help: `The caller (CustomerEmployee) and the service account may delete the group. The end user has the same permission
but may not, because of its kind.`,
    production: 'test data of "seed" is not removed',
    async run(target, _options, print) {
      const userGroupName = `Approvers ${randomBytes(3).toString('hex')}`;
      const seeded = await runOperation(target, 'seed', { userGroupName });
      print(seeded, () => columns(Object.entries(seeded)).join('\n'));
      const { userGroupId, callerId } = seeded;
      const command = `delete-group --group ${userGroupId} --caller ${callerId}`;
      target.note(`To delete the group: ${target.walletCommand(command)}`);
    },
  });
}
