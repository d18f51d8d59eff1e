/** What a workflow's role is for: each environment has one of each. */
export type RoleKind = 'deploy' | 'read' | 'operate';

/** The workflows name their roles by this, so no ARN has to be configured. */
export const roleName = (kind: RoleKind, environment: string): string => `wallet-${kind}-${environment}`;

/** The GitHub environment that lets a job have the role: `eu` after an approval, `eu-read` without. */
export const githubEnvironments = (environment: string): Readonly<Record<RoleKind, string>> => ({
  deploy: environment,
  operate: environment,
  read: `${environment}-read`,
});

/** Change sets of `wallet plan` begin so: the role that reads may make these and no others. */
export const planPrefix = 'wallet-plan-';

/** Folder of the CDK's bucket for the templates of those change sets; what is deployed is not in it. */
export const planFolder = 'wallet-plan';
