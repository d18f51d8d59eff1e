import type { Stack } from '../../assembly/manifest';
import type { Postgres } from '../../postgres/postgres';
import type { Cleanup } from '../../shared/cleanup';
import type { Logs } from '../../shared/logs';
import type { EnvironmentFolder } from '../../state/paths';
import type { Permissions } from '../iam/permissions';
import type { Runtime } from '../lambda/instance';
import type { LocalCertificate } from '../rds/certificate';
import type { Services } from '../services';

/** Dependencies of one stack's resources. */
export interface StackContext {
  readonly stack: Pick<Stack, 'name' | 'environment' | 'region' | 'template' | 'assets' | 'assetNames'>;
  readonly folder: EnvironmentFolder;
  readonly permissions: Permissions;
  readonly services: Services;
  /** Serves this stack only. */
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
