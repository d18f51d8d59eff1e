import type { Seeded } from '../domain/operations';
import type { Environment } from './start';
import type { StateFolder } from './state/paths';

interface BannerOptions {
  readonly running: readonly Pick<Environment, 'stack' | 'outputs'>[];
  /** In the first environment. @default - none: it could not be created */
  readonly sample: Pick<Seeded, 'organizationId' | 'userGroupId' | 'callerId'> | undefined;
  readonly state: Pick<StateFolder, 'logsDirectory' | 'outputsFile'>;
  /** The folder of `package.json`. */
  readonly projectRoot: string;
}

/** `npm start` prints this when everything runs: the environments, and commands to paste into another terminal. */
export function banner({ running, sample, state, projectRoot }: BannerOptions): string {
  const [first] = running;
  const rows = running.map(({ stack: { environment, region }, outputs }) =>
    [environment.padEnd(12), region.padEnd(14), outputs.ApiBaseUrl, `dashboard ${outputs.DashboardUrl}`].join(
      ' ',
    ),
  );
  const parts = [rows.join('\n'), `Logs: ${state.logsDirectory}/ENVIRONMENT`];
  if (first && sample) {
    const isDefault = state.outputsFile === `${projectRoot}/.local/outputs.json`;
    const outputs = isDefault ? '' : ` --outputs ${shellWord(state.outputsFile)}`;
    const target = `--environment ${first.stack.environment}${outputs}`;
    const { organizationId, userGroupId, callerId } = sample;
    parts.push(
      `In another terminal, in ${projectRoot}, delete a user group:`,
      `./wallet delete-group ${target} --group ${userGroupId} --caller ${callerId}`,
      'or receive webhooks:',
      `./wallet local receive ${target}`,
      'then, in a third terminal, add the webhook and send an event:',
      `./wallet webhook add ${target} --organization ${organizationId} --url http://127.0.0.1:8010/
./wallet local send-event ${target} --organization ${organizationId} --kind wallet.created --data '{"walletId":"wa-1"}'`,
    );
  }
  return `\n${[...parts, 'Ctrl-C stops everything.'].join('\n\n')}`;
}

/** Quotes for a POSIX shell. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
