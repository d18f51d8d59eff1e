import type { Command } from 'commander';
import { environmentCommand } from '../shell/deployed-environment';
import { CommandFailed } from '../shell/failure';
import { id } from '../shell/options';
import type { Terminal } from '../shell/terminal';
import { sendDeletion } from './api';
import { readCallerClaims } from './signing';

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<{ readonly group: string; readonly caller: string }>(program, terminal, 'delete-group', {
    summary: 'delete a user group through the API and print the response',
    help: `Signs an access token and a user action for the caller and sends the request, like "local token", "local user-action" and
curl. The API authorizes it like any other request.`,
    production: 'a deleted group cannot be restored',
    async run(target, { group, caller }, print) {
      const claims = await readCallerClaims(target, caller);
      const { answer } = await sendDeletion(target, claims, group, new AbortController().signal);
      const { status, body } = answer;
      print({ status, body }, () => `${status} ${JSON.stringify(body)}`);
      if (status !== 200)
        throw new CommandFailed(
          `The API did not delete ${group}: ${Object(body).code ?? status}.`,
          status === 404
            ? `Either it is deleted already, or it belongs to another organization than the caller. Its records: ${target.walletCommand(`audit --group ${group}`)}`
            : undefined,
        );
    },
  })
    .requiredOption('--group <id>', 'the user group', id('ug'))
    .requiredOption('--caller <id>', 'the identity that deletes it: user or service account', id('us', 'sa'));
}
