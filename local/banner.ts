import type { Seeded } from '../domain/operations';
import type { Environment } from './start';
import type { StateFolder } from './state';

interface BannerOptions {
  readonly running: readonly Pick<Environment, 'stack' | 'outputs'>[];
  /** In the first environment. Absent when it could not be made. */
  readonly sample: Pick<Seeded, 'organizationId' | 'userGroupId' | 'callerId'> | undefined;
  readonly state: Pick<StateFolder, 'logsDirectory' | 'outputsFile'>;
  /** The folder of `package.json`. */
  readonly projectRoot: string;
}

/** What `npm start` prints when everything runs: the environments, and commands to paste into another terminal. */
export function banner({ running, sample, state, projectRoot }: BannerOptions): string {
  const [first] = running;
  const parts = [environmentsTable(running), `Logs: ${state.logsDirectory}, a folder for each environment.`];
  if (first && sample) {
    const isUsual = state.outputsFile === `${projectRoot}/.local/outputs.json`;
    const place = [
      `--environment ${first.stack.environment}`,
      ...(isUsual ? [] : [`--outputs ${shellWord(state.outputsFile)}`]),
    ].join(' ');
    const { organizationId, userGroupId, callerId } = sample;
    parts.push(
      `In another terminal, in ${projectRoot}: delete a user group,`,
      `./wallet delete-group ${place} --group ${userGroupId} --caller ${callerId}`,
      'or receive a webhook:',
      `./wallet local receive ${place}`,
      'and in a third terminal, add the webhook and send an event:',
      `./wallet webhook add ${place} --organization ${organizationId} --url http://127.0.0.1:8010/
./wallet local send-event ${place} --organization ${organizationId} --kind wallet.created --data '{"walletId":"wa-1"}'`,
    );
  }
  return `\n${[...parts, 'Ctrl-C stops everything.'].join('\n\n')}`;
}

function environmentsTable(running: BannerOptions['running']): string {
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
  const widthOf = (column: number) => Math.max(...table.map((row) => row[column]?.length ?? 0));
  const lines = table.map((row) => row.map((cell, column) => cell.padEnd(widthOf(column))).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** A word for a POSIX shell. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
