import type { RoleKind } from '../../domain/workflow-roles';
import { permissionsOf } from '../../lib/account/permissions';
import { first } from './rows';

/** The API calls that a role of the workflows has no permission for. */
export function callsNotGranted(
  role: RoleKind,
  calls: readonly { readonly action: string }[],
): readonly string[] {
  const granted = permissionsOf(first, 'qualifier')[role].flatMap(({ actions }) =>
    actions.map((action) => action.split(':')[1]),
  );
  return calls.map(({ action }) => action).filter((action) => !granted.includes(action));
}
