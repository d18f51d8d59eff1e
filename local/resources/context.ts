import type { Stack } from '../assembly/manifest';
import type { Cleanup } from '../cleanup';
import type { Runtime } from '../lambda/instance';
import type { Logs } from '../logs';
import type { LocalCertificate } from '../network/certificates';
import type { Permissions } from '../permissions/permissions';
import type { Postgres } from '../postgres/postgres';
import type { Services } from '../services/services';
import type { EnvironmentFolder } from '../state';

/** Dependencies of one stack's resources. */
export interface StackContext {
  readonly stack: Pick<Stack, 'name' | 'region' | 'template' | 'assets'>;
  readonly folder: EnvironmentFolder;
  readonly permissions: Permissions;
  readonly services: Services;
  /** Of this stack only. */
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  readonly logs: Logs;
  /** @default - a process for each instance of a function */
  readonly runtime: Runtime | undefined;
  /** Override the template's variables of the same name. */
  readonly ownVariables: Readonly<Record<string, string>>;
  /** Cleanup steps of the created resources. */
  readonly cleanup: Cleanup;
}

/** @throws Error if the role lacks permissions that AWS requires */
export function requireAllowed(
  { permissions }: StackContext,
  logicalId: string,
  role: string,
  actions: readonly string[],
  resource: string,
): void {
  for (const action of actions) {
    const refusal = permissions.authorizeRole(role, action, resource);
    if (refusal !== undefined) throw new Error(`${logicalId}: ${refusal}`);
  }
}
