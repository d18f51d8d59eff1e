import { Aws, Duration, Stack } from 'aws-cdk-lib';
import {
  AccountRootPrincipal,
  OidcProviderNative,
  PolicyDocument,
  PolicyStatement,
  Role,
  WebIdentityPrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { githubEnvironments, type RoleKind, roleName, trustedJobs } from '../../domain/workflow-roles';
import { acknowledgePermissions } from '../checks/acknowledgements';
import type { Environment } from '../environment/schema';
import { pascalCase, withStableLogicalId } from '../stable-logical-id';
import { permissionsOf } from './permissions';
import type { AccountSettings } from './settings';

const issuer = 'token.actions.githubusercontent.com';
const mainBranch = 'refs/heads/main';

/**
 * An AWS account's resources for the workflows: GitHub's OIDC provider and roles (docs/decisions/workflow-roles.md). Deployed by an
 * administrator: docs/deploying.md. A global service, without customer data.
 */
export class AccountStack extends Stack {
  /** The stack's name. Never change it. */
  static readonly stackId = 'WalletAccount';

  private readonly providerArn: string;

  constructor(
    scope: Construct,
    private readonly settings: AccountSettings,
  ) {
    const { environments, region, repository } = settings;
    super(scope, AccountStack.stackId, {
      env: { region },
      description: `Wallet infrastructure: roles of ${repository} for ${environments.map(({ name }) => name).join(', ')}.`,
      tags: { service: 'wallet-infrastructure' },
      terminationProtection: true,
    });
    this.providerArn = settings.adoptProvider
      ? `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:oidc-provider/${issuer}`
      : this.addProvider();
    for (const environment of environments) {
      this.addRole('deploy', environment, 'Deploys');
      this.addRole('read', environment, 'Plans deployments and looks');
      this.addRole('drift', environment, 'Detects drift');
      this.addRole('operate', environment, 'Moves the webhook origin and tests');
    }
  }

  private addProvider(): string {
    const settings = { url: `https://${issuer}`, clientIds: ['sts.amazonaws.com'] };
    const provider = new OidcProviderNative(this, 'GithubProvider', settings);
    return withStableLogicalId(provider, 'GithubProvider').oidcProviderArn;
  }

  private addRole(kind: RoleKind, environment: Environment, summary: string): void {
    const { repository } = this.settings;
    const { name } = environment;
    const permissions = permissionsOf(environment, this.synthesizer.bootstrapQualifier ?? '')[kind];
    const { workflows } = trustedJobs[kind];
    const logicalId = `${pascalCase(kind)}${pascalCase(name)}Role`;
    const statements = permissions.map((permission) => new PolicyStatement(permission));
    const role = new Role(this, logicalId, {
      roleName: roleName(kind, name),
      description: `${summary} ${name}, for the workflows ${workflows.join(', ')} of ${repository}`,
      assumedBy: this.trustedJobsOf(kind, name),
      // A first deployment and a long move exceed the default session of an hour.
      maxSessionDuration: Duration.minutes(150),
      inlinePolicies: { [kind]: new PolicyDocument({ statements }) },
    });
    if (kind === 'operate') this.trustOperators(role);
    withStableLogicalId(role, logicalId);
    acknowledgePermissions(role, permissions);
  }

  /**
   * Beside the subject, STS compares the branch and the workflow of GitHub's token:
   * https://aws.amazon.com/about-aws/whats-new/2026/01/aws-sts-supports-validation-identity-provider-claims/. The token has
   * `job_workflow_ref` also in workflows that no other one calls, as PyPI requires of publishers:
   * https://github.com/pypi/warehouse/blob/main/warehouse/oidc/models/github.py
   */
  private trustedJobsOf(kind: RoleKind, environment: string): WebIdentityPrincipal {
    const { repository } = this.settings;
    const { workflows, kinds } = trustedJobs[kind];
    // Only the subject contains ids.
    const name = repository.replaceAll(/@\d+/g, '');
    return new WebIdentityPrincipal(this.providerArn, {
      StringEquals: {
        [`${issuer}:aud`]: 'sts.amazonaws.com',
        // https://docs.github.com/en/actions/reference/security/oidc
        [`${issuer}:sub`]: kinds.map(
          (jobKind) => `repo:${repository}:environment:${githubEnvironments(environment)[jobKind]}`,
        ),
        [`${issuer}:ref`]: mainBranch,
        [`${issuer}:job_workflow_ref`]: workflows.map(
          (each) => `${name}/.github/workflows/${each}.yml@${mainBranch}`,
        ),
      },
    });
  }

  /**
   * Break-glass: whoever signs in with the permission set of IAM Identity Center may operate without GitHub. Its role in the
   * account is named after it: https://docs.aws.amazon.com/singlesignon/latest/userguide/referencingpermissionsets.html
   */
  private trustOperators(role: Role): void {
    const { operators } = this.settings;
    if (operators === undefined) return;
    const reserved = `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:role/aws-reserved/sso.amazonaws.com`;
    const suffix = '?'.repeat(16);
    role.assumeRolePolicy?.addStatements(
      new PolicyStatement({
        actions: ['sts:AssumeRole'],
        principals: [new AccountRootPrincipal()],
        conditions: {
          ArnLike: { 'aws:PrincipalArn': `${reserved}*/AWSReservedSSO_${operators}_${suffix}` },
        },
      }),
    );
  }
}
