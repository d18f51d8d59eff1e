/**
 * Fails unless an environment's GitHub environments are protected: `.ci/require-protection.ts ENVIRONMENT KIND,…`. GitHub creates
 * a missing GitHub environment without protection, and ignores required reviewers on a plan that does not have them.
 * https://docs.github.com/en/actions/reference/workflows-and-actions/deployments-and-environments
 */
import { type GithubEnvironmentKind, githubEnvironments } from '../domain/workflow-roles';
import { find, read, step, variable } from './github';

/** https://docs.github.com/en/rest/deployments/environments#get-an-environment, with actions: read */
interface GithubEnvironment {
  readonly can_admins_bypass?: boolean;
  readonly protection_rules?: readonly {
    readonly type: string;
    readonly reviewers?: readonly unknown[];
    readonly prevent_self_review?: boolean;
  }[];
  readonly deployment_branch_policy?: { readonly custom_branch_policies?: boolean } | null;
}

/** https://docs.github.com/en/rest/deployments/branch-policies#list-deployment-branch-policies */
interface BranchPolicies {
  readonly branch_policies?: readonly { readonly name?: string; readonly type?: string }[] | null;
}

/** Who must approve a job: nobody, a reviewer, or a reviewer who did not start the run. */
const approvals: Readonly<Record<GithubEnvironmentKind, 'nobody' | 'reviewer' | 'second person'>> = {
  deploy: 'second person',
  operate: 'reviewer',
  read: 'nobody',
};

/** @throws Error with every fault; what GitHub does not answer is a fault */
export async function requireProtection(environment: string, kind: GithubEnvironmentKind): Promise<void> {
  const name = githubEnvironments(environment)[kind];
  const path = `environments/${encodeURIComponent(name)}`;
  const found = await find<GithubEnvironment>(path);
  const faults = found
    ? [...approvalFaults(found, kind), ...(await branchFaults(path, found))]
    : ['it does not exist'];
  if (faults.length > 0)
    throw new Error(
      `The GitHub environment ${name} is not protected: ${faults.join('; ')}. See docs/deploying.md.`,
    );
}

function approvalFaults(
  { can_admins_bypass, protection_rules = [] }: GithubEnvironment,
  kind: GithubEnvironmentKind,
): readonly string[] {
  const approval = approvals[kind];
  if (approval === 'nobody') return [];
  const required = protection_rules.find(({ type }) => type === 'required_reviewers');
  return [
    ...(required?.reviewers?.length ? [] : ['it has no required reviewers (not every GitHub plan has them)']),
    ...(approval === 'reviewer' || required?.prevent_self_review === true
      ? []
      : ['whoever starts a run may approve it']),
    ...(can_admins_bypass === false ? [] : ['administrators may bypass the approval']),
  ];
}

async function branchFaults(
  path: string,
  { deployment_branch_policy }: GithubEnvironment,
): Promise<readonly string[]> {
  const fault = ['branches other than main may use it'];
  if (deployment_branch_policy?.custom_branch_policies !== true) return fault;
  const { branch_policies: policies } = await read<BranchPolicies>(`${path}/deployment-branch-policies`);
  const isMainOnly =
    policies?.length && policies.every(({ name, type }) => name === 'main' && type === 'branch');
  return isMainOnly ? [] : fault;
}

/**
 * The roles in AWS trust tokens of github.com with the usual subject. A customized one would be refused there, without a reason.
 * https://docs.github.com/en/rest/actions/oidc#get-the-customization-template-for-an-oidc-subject-claim-for-a-repository
 */
async function requireUsualTokens(): Promise<void> {
  const server = variable('GITHUB_SERVER_URL');
  if (server !== 'https://github.com')
    throw new Error(
      `${server} has an OIDC issuer of its own, which the account stack does not trust. Use github.com: docs/deploying.md.`,
    );
  // What the token may not read is no fault.
  const template = await find<{
    readonly use_default?: boolean;
    readonly include_claim_keys?: readonly string[];
  }>('actions/oidc/customization/sub').catch(() => undefined);
  if (template?.use_default === false)
    throw new Error(
      `The repository customizes the subject of its OIDC tokens (${template.include_claim_keys?.join(', ')}), which the roles do not trust. Reset it: gh api -X PUT repos/${variable('GITHUB_REPOSITORY')}/actions/oidc/customization/sub -F use_default=true`,
    );
}

export async function run(environment: string, kinds: string): Promise<void> {
  await requireUsualTokens();
  for (const kind of kinds.split(',')) {
    if (!(kind in approvals))
      throw new Error(
        `"${kind}" is no kind of GitHub environment. Known: ${Object.keys(approvals).join(', ')}.`,
      );
    await requireProtection(environment, kind as GithubEnvironmentKind);
  }
}

step(module, run);
