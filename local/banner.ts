import type { Seeded } from '../domain/operations';
import { shellWord } from '../domain/shell';
import { type Ports, receiverUrl } from './shared/ports';
import type { Local } from './start';
import type { StateFolder } from './state/paths';

interface BannerOptions extends Pick<StateFolder, 'logsDirectory' | 'outputsFile'> {
  readonly running: Local['environments'];
  readonly ports: Ports;
  /** Belongs to the first environment. @default - none: it could not be created */
  readonly sample: Pick<Seeded, 'organizationId' | 'userGroupId' | 'callerId'> | undefined;
  /** The folder of `package.json`. */
  readonly projectRoot: string;
}

/** `npm start` prints this when everything runs: the environments, and commands to paste into another terminal. */
export function banner(options: BannerOptions): string {
  const { running, sample, outputsFile, logsDirectory, projectRoot, ports } = options;
  const [first] = running;
  const rows = [
    ['ENVIRONMENT', 'REGION', 'API', 'DASHBOARD'],
    ...running.map(({ stack, outputs }) => [
      stack.environment,
      stack.region,
      outputs.ApiBaseUrl,
      outputs.DashboardUrl,
    ]),
  ].map(([name = '', region = '', api = '', dashboard]) =>
    [name.padEnd(12), region.padEnd(14), api.padEnd(22), dashboard].join(' '),
  );
  const parts = [rows.join('\n'), `Logs: ${logsDirectory}/ENVIRONMENT`];
  if (first && sample) {
    const isDefault = outputsFile === `${projectRoot}/.local/outputs.json`;
    const outputs = isDefault ? '' : ` --outputs ${shellWord(outputsFile)}`;
    const target = `--environment ${first.stack.environment}${outputs}`;
    const { organizationId, userGroupId, callerId } = sample;
    parts.push(
      `In another terminal, in ${projectRoot}, delete a user group:`,
      `./wallet delete-group ${target} --group ${userGroupId} --caller ${callerId}`,
      'or receive webhooks:',
      `./wallet local receive ${target}`,
      'then, in a third terminal, add the webhook and send an event:',
      `./wallet webhook add ${target} --organization ${organizationId} --url ${receiverUrl(ports)}
./wallet local send-event ${target} --organization ${organizationId} --kind wallet.created --data '{"walletId":"wa-1"}'`,
    );
  }
  return `\n${[...parts, 'Ctrl-C stops everything.'].join('\n\n')}`;
}
