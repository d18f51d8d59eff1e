import { Aws, Duration, Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import {
  OidcProviderNative,
  PolicyDocument,
  PolicyStatement,
  Role,
  WebIdentityPrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { githubEnvironments, type RoleKind, roleName } from '../../domain/workflow-roles';
import { acknowledgePermissions } from '../checks/acknowledgements';
import type { Environment } from '../environment';
import { withStableLogicalId } from '../stable-logical-id';
import { permissionsOf } from './permissions';
import type { AccountSettings } from './settings';

const issuer = 'token.actions.githubusercontent.com';

/**
 * An AWS account's resources for the workflows: GitHub's OIDC provider, roles (docs/decisions/deployments.md), and a budget. Deployed by
 * an administrator: docs/deploying.md. Global services, without customer data.
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
      description: `Wallet infrastructure: roles of ${repository} for ${environments.map(({ name }) => name).join(', ')}, and a budget.`,
      tags: { service: 'wallet-infrastructure' },
      terminationProtection: true,
    });
    this.providerArn = settings.adoptProvider
      ? `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:oidc-provider/${issuer}`
      : this.addProvider();
    for (const environment of environments) {
      this.addRole('deploy', environment, 'Deploys');
      this.addRole('read', environment, 'Plans deployments and looks');
      this.addRole('operate', environment, 'Moves the webhook origin and tests');
    }
    this.addBudget();
  }

  private addProvider(): string {
    const provider = new OidcProviderNative(this, 'GithubProvider', {
      url: `https://${issuer}`,
      clientIds: ['sts.amazonaws.com'],
    });
    return withStableLogicalId(provider, 'GithubProvider').oidcProviderArn;
  }

  private addRole(kind: RoleKind, environment: Environment, does: string): void {
    const { repository } = this.settings;
    const { name } = environment;
    const permissions = permissionsOf(environment, this.synthesizer.bootstrapQualifier ?? '')[kind];
    const githubEnvironment = githubEnvironments(name)[kind];
    const logicalId = `${pascalCase(kind)}${pascalCase(name)}Role`;
    const statements = permissions.map((permission) => new PolicyStatement(permission));
    const role = new Role(this, logicalId, {
      roleName: roleName(kind, name),
      description: `${does} ${name}, for ${repository} in the GitHub environment ${githubEnvironment}`,
      assumedBy: new WebIdentityPrincipal(this.providerArn, {
        StringEquals: {
          [`${issuer}:aud`]: 'sts.amazonaws.com',
          // https://docs.github.com/en/actions/reference/security/oidc
          [`${issuer}:sub`]: `repo:${repository}:environment:${githubEnvironment}`,
        },
      }),
      // A first deployment can exceed the default session of an hour.
      maxSessionDuration: Duration.hours(2),
      inlinePolicies: { [kind]: new PolicyDocument({ statements }) },
    });
    withStableLogicalId(role, logicalId);
    acknowledgePermissions(role, permissions);
  }

  private addBudget(): void {
    const { budget: amount, email } = this.settings;
    const mail = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: {
        notificationType,
        threshold,
        thresholdType: 'PERCENTAGE',
        comparisonOperator: 'GREATER_THAN',
      },
      subscribers: [{ subscriptionType: 'EMAIL', address: email }],
    });
    const budget = new CfnBudget(this, 'Budget', {
      // No name: a change of subscribers replaces the budget, and names must be unique.
      // https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/365
      budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount, unit: 'USD' } },
      notificationsWithSubscribers: [mail('ACTUAL', 80), mail('FORECASTED', 100)],
    });
    withStableLogicalId(budget, 'Budget');
  }
}

const pascalCase = (name: string): string =>
  name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
