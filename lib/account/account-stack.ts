import { Aws, Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { OidcProviderNative } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { withStableLogicalId } from '../stable-logical-id';
import { EnvironmentRoles } from './roles';
import type { AccountSettings, Budget } from './settings';

const issuerUrl = 'https://token.actions.githubusercontent.com';

/**
 * What an AWS account has for the workflows: GitHub's OIDC provider, the roles of its environments, and a budget. A
 * person with rights deploys it once: docs/deploying.md. IAM and AWS Budgets are global services; nothing here holds data
 * of an organization.
 */
export class AccountStack extends Stack {
  /** The stack's name. Never change it. */
  static readonly stackId = 'WalletAccount';

  constructor(
    scope: Construct,
    { environments, region, repository, budget, adoptProvider }: AccountSettings,
  ) {
    super(scope, AccountStack.stackId, {
      env: { region },
      description: `Wallet infrastructure: roles of ${repository} for ${environments.map(({ name }) => name).join(', ')}, and a budget.`,
      tags: { service: 'wallet-infrastructure' },
      terminationProtection: true,
    });
    const providerArn = adoptProvider
      ? `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:oidc-provider/${new URL(issuerUrl).host}`
      : this.addProvider();
    for (const environment of environments) {
      new EnvironmentRoles(this, { environment, providerArn, repository });
    }
    this.addBudget(budget);
  }

  private addProvider(): string {
    const provider = new OidcProviderNative(this, 'GithubProvider', {
      url: issuerUrl,
      clientIds: ['sts.amazonaws.com'],
    });
    return withStableLogicalId(provider, 'GithubProvider').oidcProviderArn;
  }

  private addBudget({ amount, email }: Budget): void {
    const tell = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: {
        notificationType,
        threshold,
        thresholdType: 'PERCENTAGE',
        comparisonOperator: 'GREATER_THAN',
      },
      subscribers: [{ subscriptionType: 'EMAIL', address: email }],
    });
    const budget = new CfnBudget(this, 'Budget', {
      budget: {
        // No name: other subscribers are another budget to CloudFormation, and a name can be taken once only.
        // https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/365
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount, unit: 'USD' },
      },
      notificationsWithSubscribers: [tell('ACTUAL', 80), tell('FORECASTED', 100)],
    });
    withStableLogicalId(budget, 'Budget');
  }
}
