import type { Command } from 'commander';
import { callApi } from './api';
import { CommandFailed } from './failure';
import { type CommonOptions, id, withEnvironment } from './options';
import { allowProduction, requireProductionAllowed } from './production-guard';
import { type CallerClaims, readCallerClaims, signAccessToken, signUserAction } from './signing';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';

interface DeleteGroupOptions extends CommonOptions {
  readonly group: string;
  readonly caller: string;
  readonly allowProduction?: boolean;
}

const help = `
It signs an access token and a user action of the caller, and sends the request to the API: what "token", "user-action"
and curl do one by one. The API decides, as for any caller.

Examples:
  wallet delete-group --group ug-… --caller us-…
  wallet delete-group --environment uae --group ug-… --caller sa-… --json     {"status":200,"body":{}}`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('delete-group'))
    .summary('delete a user group through the API')
    .description('Deletes a user group through the API, as the caller, and prints the response.')
    .requiredOption('--group <id>', 'the user group', id('ug'))
    .requiredOption(
      '--caller <id>',
      'the identity that deletes it: a user or a service account',
      id('us', 'sa'),
    )
    .addOption(allowProduction())
    .addHelpText('after', help)
    .action((options: DeleteGroupOptions) => deleteGroup(options, terminal));
}

async function deleteGroup(options: DeleteGroupOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  requireProductionAllowed(target, options, 'a deleted group cannot be brought back');
  const caller = await readCallerClaims(target, options.caller);
  const { answer } = await sendDeletion(target, caller, options.group, new AbortController().signal);
  const { status, body } = answer;
  terminal.result(options.json ? JSON.stringify({ status, body }) : `${status} ${JSON.stringify(body)}`);
  if (status !== 200) {
    const { code } = Object(body) as { readonly code?: string };
    throw new CommandFailed(`The API did not delete ${options.group}: ${code ?? status}.`);
  }
}

/** Sends a deletion with an access token and a user action of five minutes. */
export async function sendDeletion(
  target: Target,
  caller: CallerClaims,
  userGroupId: string,
  signal: AbortSignal,
) {
  const [method, path] = ['DELETE', `/auth/user-groups/${userGroupId}`] as const;
  const [access, action] = await Promise.all([
    signAccessToken(target, caller, 300),
    signUserAction(target, caller, { method, path, body: '', expiresIn: 300 }),
  ]);
  const headers = { authorization: `Bearer ${access.token}`, 'x-svc-useraction': action.token };
  const request = { method, path, headers };
  return { request, answer: await callApi(target, request, signal) };
}
