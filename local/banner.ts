import { noticesCell, originCell } from '../cli/environment-cells';
import { walletCommand } from '../cli/pasted-command';
import { table } from '../cli/terminal';
import type { Environment } from '../lib/environment/environment';
import type { Region } from './region';

/** What the banner shows of an environment. */
type RunningEnvironment = Pick<Region, 'environment' | 'baseUrl' | 'outputs'>;

/** An organization with a user group to delete, and a caller who may delete it. */
export interface SampleData {
  readonly running: RunningEnvironment;
  readonly organizationId: string;
  readonly userGroupId: string;
  readonly callerId: string;
}

/** The table of the environments. `bold` is for its heading. */
export function summary(running: readonly RunningEnvironment[], bold: (text: string) => string): string {
  const rows = running.map(({ environment, baseUrl, outputs }) => [
    environment.name,
    environment.region,
    baseUrl,
    outputs.DashboardUrl ?? '',
    originCell(outputs.WebhookOriginAddress, outputs.WebhookOriginReserveAddress),
    outputs.ServiceLevelAgreement ?? '',
    noticesCell({
      deprecated: outputs.Deprecated === 'true',
      testFundsOnly: environment.testFundsOnly,
    }),
  ]);
  return table([['NAME', 'REGION', 'BASE ADDRESS', 'DASHBOARD', 'WEBHOOK ORIGIN', 'SLA', ''], ...rows], bold);
}

/** Where the command line is, and its `--outputs`. */
export interface CommandPaths {
  readonly projectRoot: string;
  readonly outputsFile: string;
}

/**
 * A `curl` that deletes the group, for a POSIX shell in any folder. Tokens live for minutes: the shell makes them.
 */
export function deletionCommand(
  { running: { environment, baseUrl }, userGroupId, callerId }: SampleData,
  paths: CommandPaths,
): string {
  const path = `/auth/user-groups/${userGroupId}`;
  const wallet = walletOf(environment, paths);
  const caller = `--caller ${callerId}`;
  return [
    `curl -i -X DELETE ${baseUrl}${path}`,
    `  -H "Authorization: Bearer $(${wallet('token')} ${caller})"`,
    `  -H "X-SVC-USERACTION: $(${wallet('user-action')} ${caller} --method DELETE --path ${path})"`,
  ].join(' \\\n');
}

/** The commands that start a receiver and send it a webhook, likewise. */
export function webhookCommands(
  { running: { environment }, organizationId }: SampleData,
  paths: CommandPaths,
): { readonly receive: string; readonly send: string } {
  const wallet = walletOf(environment, paths);
  const organization = `--organization ${organizationId}`;
  return {
    receive: wallet('receive'),
    send: [
      `${wallet('webhook add')} ${organization} --url http://127.0.0.1:8010/`,
      `${wallet('send-event')} ${organization} --kind wallet.created --data '{"walletId":"wa-1"}'`,
    ].join('\n'),
  };
}

const walletOf =
  ({ name }: Environment, { projectRoot, outputsFile }: CommandPaths) =>
  (command: string) =>
    walletCommand(command, { environment: name, outputs: outputsFile }, projectRoot);
