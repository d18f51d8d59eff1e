/** A workflow role's purpose: each environment has one role of each kind. */
export type RoleKind = 'deploy' | 'read' | 'operate';

/** Workflows derive role names by this convention, so no ARN needs to be configured. */
export const roleName = (kind: RoleKind, environment: string): string => `wallet-${kind}-${environment}`;

/** The GitHub environment whose jobs may assume the role: `eu` after an approval, `eu-read` without. */
export const githubEnvironments = (environment: string): Readonly<Record<RoleKind, string>> => ({
  deploy: environment,
  operate: environment,
  read: `${environment}-read`,
});

/** Name prefix of `wallet plan`'s change sets, the only ones that the read role may create. */
export const planPrefix = 'wallet-plan-';

/** Folder in the CDK's bucket for the templates of those change sets; deployed templates are elsewhere. */
export const planFolder = 'wallet-plan';
