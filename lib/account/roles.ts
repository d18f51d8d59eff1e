import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, WebIdentityPrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { acknowledgeGithubRole } from '../checks/acknowledgements/account';
import type { Environment } from '../environment/environment';
import { withStableLogicalId } from '../stable-logical-id';
import { githubEnvironments, type RoleKind, roleName } from './names';
import { deployPermissions, operatePermissions, type Permission, readPermissions } from './permissions';

export interface EnvironmentRolesProps {
  readonly environment: Environment;
  /** ARN of GitHub's OIDC provider in the account. */
  readonly providerArn: string;
  /** As `AccountSettings.repository`. */
  readonly repository: string;
}

const issuer = 'token.actions.githubusercontent.com';

/** The roles that the workflows have in one environment's account: docs/decisions/deployment-roles.md. */
export class EnvironmentRoles {
  constructor(
    private readonly scope: Construct,
    private readonly props: EnvironmentRolesProps,
  ) {
    const { environment } = props;
    const qualifier = Stack.of(scope).synthesizer.bootstrapQualifier ?? '';
    this.add('deploy', 'Deploys', deployPermissions(environment, qualifier));
    this.add('read', 'Plans deployments and looks', readPermissions(environment, qualifier));
    this.add('operate', 'Moves the webhook origin and tests', operatePermissions(environment, qualifier));
  }

  private add(kind: RoleKind, does: string, permissions: readonly Permission[]): void {
    const { environment, providerArn, repository } = this.props;
    const gitHubEnvironment = githubEnvironments(environment.name)[kind];
    const logicalId = `${pascalCase(kind)}${pascalCase(environment.name)}Role`;
    const role = new Role(this.scope, logicalId, {
      roleName: roleName(kind, environment.name),
      description: `${does} ${environment.name}, for ${repository} in the GitHub environment ${gitHubEnvironment}`,
      assumedBy: new WebIdentityPrincipal(providerArn, {
        StringEquals: {
          [`${issuer}:aud`]: 'sts.amazonaws.com',
          // https://docs.github.com/en/actions/reference/security/oidc
          [`${issuer}:sub`]: `repo:${repository}:environment:${gitHubEnvironment}`,
        },
      }),
      // A first deployment takes more than the usual hour.
      maxSessionDuration: Duration.hours(2),
      inlinePolicies: { [kind]: new PolicyDocument({ statements: permissions.map(statementOf) }) },
    });
    withStableLogicalId(role, logicalId);
    acknowledgeGithubRole(role, permissions);
  }
}

const statementOf = ({ actions, resources, conditions }: Permission): PolicyStatement =>
  new PolicyStatement({
    actions: [...actions],
    resources: [...resources],
    ...(conditions && { conditions }),
  });

const pascalCase = (name: string): string =>
  name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
