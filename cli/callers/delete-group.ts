import type { Command } from 'commander';
import { callApi } from '../shell/api';
import { environmentCommand } from '../shell/environment-command';
import { CommandFailed } from '../shell/failure';
import { id } from '../shell/options';
import type { Target } from '../shell/target';
import type { Terminal } from '../shell/terminal';
import { type CallerClaims, readCallerClaims, signAccessToken, signUserAction } from './signing';

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
        throw new CommandFailed(`The API did not delete ${group}: ${Object(body).code ?? status}.`);
    },
  })
    .requiredOption('--group <id>', 'the user group', id('ug'))
    .requiredOption('--caller <id>', 'the identity that deletes it: user or service account', id('us', 'sa'));
}

/** Sends a deletion with an access token and a user action, both valid for five minutes. */
export async function sendDeletion(
  target: Target,
  caller: CallerClaims,
  userGroupId: string,
  signal: AbortSignal,
) {
  const [method, path] = ['DELETE', `/auth/user-groups/${userGroupId}`] as const;
  const [access, action] = await Promise.all([
    signAccessToken(target, caller, 300),
    signUserAction(target, caller, { method, path, body: '' }),
  ]);
  const headers = { authorization: `Bearer ${access.token}`, 'x-svc-useraction': action.token };
  const request = { method, path, headers };
  return { request, answer: await callApi(target, request, signal) };
}
