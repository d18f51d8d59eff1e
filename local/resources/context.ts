import type { Stack } from '../assembly/manifest';
import type { Cleanup } from '../cleanup';
import type { LocalFunction } from '../lambda/function';
import type { Runtime } from '../lambda/instance';
import type { Logs } from '../logs';
import type { LocalCertificate } from '../network/certificates';
import type { Permissions } from '../permissions/permissions';
import type { Postgres } from '../postgres/postgres';
import type { Services } from '../services/services';
import type { EnvironmentFolder } from '../state';

/** A function of a stack. */
export interface StackFunction extends LocalFunction {
  /** Of its credentials. */
  readonly accessKeyId: string;
  /** ARN. A function without a role is an administrator to the services. */
  readonly role: string | undefined;
  /** Those of the template. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What the resources of one stack are made with. */
export interface StackContext {
  readonly stack: Pick<Stack, 'name' | 'region' | 'template' | 'assets'>;
  readonly folder: EnvironmentFolder;
  readonly permissions: Permissions;
  readonly services: Services;
  /** Shared with no other stack. */
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  readonly logs: Logs;
  /** @default - a process for each instance of a function */
  readonly runtime: Runtime | undefined;
  /** Replace the values of the template's variables with these names. */
  readonly ownVariables: Readonly<Record<string, string>>;
  /** The stack's functions by name, filled by the table. */
  readonly functions: Map<string, StackFunction>;
  /** Values of the stack's secrets by ARN and by name, filled by the table. */
  readonly secrets: Map<string, string>;
  /** Closes the database's endpoint. */
  readonly cleanup: Cleanup;
  /** Gets a line when a queue cannot be read or written. */
  readonly onProblem: (line: string) => void;
}

/** @throws Error when AWS could not do its part with the role */
export function requireAllowed(
  { permissions }: Pick<StackContext, 'permissions'>,
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

/** A function of the stack by its name or ARN. @throws Error when there is none */
export function findFunction(
  { stack, functions }: Pick<StackContext, 'stack' | 'functions'>,
  arnOrName: string,
) {
  const found = functions.get(arnOrName.split(':').at(-1) ?? '');
  if (!found) throw new Error(`${stack.name} has no function ${arnOrName}.`);
  return found;
}
