import { InvalidInput } from '../environment/messages';
import { environmentNamed, environments as table } from '../environments';

export type AccountSettings = ReturnType<typeof readAccountSettings>;

/** Setting that permits several environments in one account. */
const sharing = 'environments-may-replace-each-other';

/** Reads the context of `cdk -c wallet:NAME=VALUE`. @throws InvalidInput with the name of a missing or wrong setting */
export function readAccountSettings(read: (name: string) => unknown) {
  const required = (name: string, pattern: RegExp, example: string): string => {
    const value = read(name);
    if (typeof value === 'string' && pattern.test(value)) return value;
    throw new InvalidInput(
      `${name} is ${JSON.stringify(value) ?? 'missing'}. Give it as: -c wallet:${name}=${example}`,
    );
  };
  const names = required('environments', /^[a-z0-9-]+(,[a-z0-9-]+)*$/, 'eu').split(',');
  const environments = [...new Set(names)].map((name) => {
    const row = environmentNamed(name);
    if (row) return row;
    const known = table.map((each) => each.name).join(', ');
    throw new InvalidInput(`environments names "${name}", which is not in the table. It has: ${known}.`);
  });
  if (environments.length > 1 && read(sharing) !== 'true') {
    throw new InvalidInput(
      `environments are ${names.join(', ')}, all in one account. The roles of cdk bootstrap are for the whole account: who may deploy one of them may replace or delete the others. Give each an account of its own, or accept that: -c wallet:${sharing}=true`,
    );
  }
  const operators = read('operators');
  if (operators !== undefined && !/^[\w+=,.@-]{1,32}$/.test(String(operators)))
    throw new InvalidInput(
      `operators is ${JSON.stringify(operators)}. Give the name of a permission set of IAM Identity Center: -c wallet:operators=OnCall`,
    );
  return {
    environments,
    /** The permission set that may operate without GitHub, in an emergency. @default - none */
    operators: operators as string | undefined,
    /** The stack's, which no promotion changes; its resources are global. */
    region: environments[0]?.residencyRegions[0] ?? '',
    /**
     * As in the `sub` of GitHub's tokens: `owner/name`, or `owner@1234/name@5678` with immutable subjects, since 15 July 2026.
     * https://github.blog/changelog/2026-04-23-immutable-subject-claims-for-github-actions-oidc-tokens/
     */
    repository: required('repository', /^[\w-]+(@\d+)?\/[\w.-]+(@\d+)?$/, 'owner/name'),
    /** Whether the account already has GitHub's OIDC provider, of which it can have only one. */
    adoptProvider: read('adopt-provider') === 'true',
  };
}
