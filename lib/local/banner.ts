import type { Environment } from '../environment';
import { table } from '../operations/terminal';

/** An environment that runs, as far as people are told of it. */
export interface RunningEnvironment {
  readonly environment: Environment;
  readonly baseUrl: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/** A user group that was made to be deleted, and who may delete it. */
export interface Demonstration {
  readonly running: RunningEnvironment;
  readonly userGroupId: string;
  readonly callerId: string;
}

/** The table of what runs. `bold` is for its heading. */
export function summary(running: readonly RunningEnvironment[], bold: (text: string) => string): string {
  const rows = running.map(({ environment, baseUrl, outputs }) => [
    environment.name,
    environment.region,
    baseUrl,
    outputs.WebhookOriginAddress ?? '',
    outputs.ServiceLevelAgreement ?? '',
    outputs.Deprecated === 'true' ? 'deprecated: test funds only' : '',
  ]);
  return table([['NAME', 'REGION', 'BASE ADDRESS', 'WEBHOOK ORIGIN', 'SLA', ''], ...rows], bold);
}

/**
 * A `curl` that deletes the group, for a POSIX shell in any folder. Tokens live for minutes, so the shell makes them
 * when it is pasted.
 */
export function deletionCommand(
  { running: { environment, baseUrl }, userGroupId, callerId }: Demonstration,
  { projectRoot, outputsFile }: { readonly projectRoot: string; readonly outputsFile: string },
): string {
  const path = `/auth/user-groups/${userGroupId}`;
  const wallet = `npm --prefix ${quote(projectRoot)} run -s wallet --`;
  const common = `--environment ${environment.name} --outputs ${quote(outputsFile)} --caller ${callerId}`;
  return [
    `curl -i -X DELETE ${baseUrl}${path}`,
    `  -H "Authorization: Bearer $(${wallet} token ${common})"`,
    `  -H "X-SVC-USERACTION: $(${wallet} user-action ${common} --method DELETE --path ${path})"`,
  ].join(' \\\n');
}

/** As one word of a POSIX shell. */
function quote(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
