/**
 * Fails unless jobs in the GitHub environment require approval: `.ci/require-approval.ts ENVIRONMENT`. On a plan without
 * required reviewers, GitHub ignores them silently; for an unknown name, it creates an environment without
 * any. https://docs.github.com/en/actions/reference/workflows-and-actions/deployments-and-environments
 */
import { find, step } from './github';

/** https://docs.github.com/en/rest/deployments/environments#get-an-environment, with actions: read */
interface Environment {
  readonly can_admins_bypass?: boolean;
  readonly protection_rules?: readonly { readonly type: string; readonly reviewers?: readonly unknown[] }[];
}

/** @throws Error with the reason why approval is not required, and the remedy */
export async function requireApproval(name: string): Promise<void> {
  const environment = await find<Environment>(`environments/${encodeURIComponent(name)}`);
  if (!environment)
    throw new Error(`The repository has no GitHub environment ${name}. Create it: docs/deploying.md.`);
  const reviewed = environment.protection_rules?.some(
    ({ type, reviewers = [] }) => type === 'required_reviewers' && reviewers.length > 0,
  );
  if (!reviewed)
    throw new Error(
      `The GitHub environment ${name} does not require approval. Add required reviewers, on a GitHub plan that supports them: docs/deploying.md.`,
    );
  if (environment.can_admins_bypass)
    throw new Error(
      `Administrators can bypass the approval in the GitHub environment ${name}. Disallow that: docs/deploying.md.`,
    );
}

if (require.main === module) step(() => requireApproval(process.argv[2] ?? ''));
