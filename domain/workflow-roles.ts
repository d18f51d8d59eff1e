export type RoleKind = 'deploy' | 'read' | 'drift' | 'operate';

export type GithubEnvironmentKind = 'deploy' | 'read' | 'operate';

/** Workflows derive role names by this convention, so no ARN needs to be configured. */
export const roleName = (kind: RoleKind, environment: string): string => `wallet-${kind}-${environment}`;

// `eu` needs the approval of a second person, `eu-operate` anyone's, `eu-read` none:
// https://docs.github.com/en/actions/reference/workflows-and-actions/deployments-and-environments
export const githubEnvironments = (environment: string): Readonly<Record<GithubEnvironmentKind, string>> => ({
  deploy: environment,
  operate: `${environment}-operate`,
  read: `${environment}-read`,
});

/** Which jobs may assume a role: those of the workflows `.github/workflows/NAME.yml` in the GitHub environments of these kinds. */
export const trustedJobs: Readonly<
  Record<
    RoleKind,
    { readonly workflows: readonly string[]; readonly kinds: readonly GithubEnvironmentKind[] }
  >
> = {
  deploy: { workflows: ['deploy'], kinds: ['deploy'] },
  // `deploy` runs `smoke` in the job that deploys, which may have to roll back.
  operate: { workflows: ['deploy', 'move-origin', 'smoke'], kinds: ['deploy', 'operate'] },
  read: { workflows: ['deploy', 'move-origin', 'origin-status'], kinds: ['read'] },
  drift: { workflows: ['drift'], kinds: ['read'] },
};

/** Name prefix of `wallet plan`'s change sets, the only ones that the read role may create. */
export const planPrefix = 'wallet-plan-';

/** Folder in the CDK's bucket for the templates of those change sets; deployed templates are elsewhere. */
export const planFolder = 'wallet-plan';
