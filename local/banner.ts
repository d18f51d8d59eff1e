import type { Environment } from './environment';

/** An organization with a user group to delete, and a caller who may delete it. */
export interface SampleData {
  readonly organizationId: string;
  readonly userGroupId: string;
  readonly callerId: string;
}

type Running = Pick<Environment, 'stack' | 'outputs'>;

export interface BannerOptions {
  readonly running: readonly Running[];
  /** Of the first environment. Absent when it could not be made. */
  readonly sample: SampleData | undefined;
  readonly logsDirectory: string;
  /** The folder of `package.json`. */
  readonly projectRoot: string;
  readonly outputsFile: string;
}

/** What `npm start` prints when everything runs: the environments, and commands to paste into a shell in any folder. */
export function banner({ running, sample, logsDirectory, projectRoot, outputsFile }: BannerOptions): string {
  const [first] = running;
  const parts = [environmentsTable(running), `Logs: ${logsDirectory}, a folder for each environment.`];
  if (first && sample) {
    const { organizationId, userGroupId, callerId } = sample;
    const path = `/auth/user-groups/${userGroupId}`;
    const wallet = (command: string, ...options: string[]) =>
      [
        `${shellWord(`${projectRoot}/wallet`)} ${command} --environment ${first.stack.environment}`,
        ...(outputsFile === `${projectRoot}/.local/outputs.json`
          ? []
          : [`--outputs ${shellWord(outputsFile)}`]),
        ...options,
      ].join(' ');
    const caller = `--caller ${callerId}`;
    const organization = `--organization ${organizationId}`;
    // Tokens live for minutes: the shell makes them.
    const deletion = [
      `curl -i -X DELETE ${first.outputs.ApiBaseUrl}${path}`,
      `  -H "Authorization: Bearer $(${wallet('local token', caller)})"`,
      `  -H "X-SVC-USERACTION: $(${wallet('local user-action', caller, `--method DELETE --path ${path}`)})"`,
    ].join(' \\\n');
    parts.push(
      'Delete a user group, in another terminal:',
      deletion,
      'Receive a webhook, in another terminal:',
      wallet('local receive'),
      'and in a third:',
      [
        wallet('webhook add', organization, '--url http://127.0.0.1:8010/'),
        wallet('local send-event', organization, `--kind wallet.created --data '{"walletId":"wa-1"}'`),
      ].join('\n'),
    );
  }
  return `\n${[...parts, 'Ctrl-C stops everything.'].join('\n\n')}`;
}

function environmentsTable(running: readonly Running[]): string {
  const rows = running.map(({ stack, outputs }) => [
    stack.environment,
    stack.region,
    outputs.ApiBaseUrl ?? '',
    outputs.DashboardUrl ?? '',
    [outputs.WebhookOriginAddress, outputs.WebhookOriginReserveAddress].filter(Boolean).join(', reserve '),
    outputs.ServiceLevelAgreement ?? '',
    [outputs.Deprecated === 'true' && 'deprecated', stack.testFundsOnly && 'test funds only']
      .filter(Boolean)
      .join(': '),
  ]);
  const table = [['NAME', 'REGION', 'BASE ADDRESS', 'DASHBOARD', 'WEBHOOK ORIGIN', 'SLA', ''], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A word for a POSIX shell. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
