import { Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnIPSet, CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { checkPath } from '../../domain/routes';
import type { Environment } from '../environment/schema';

export interface WebAclProps {
  readonly environment: Environment;
  readonly stage: Stage;
  readonly publishedAddresses: readonly string[];
}

/** The firewall's dimension in the metrics of `AWS/WAFV2`: unique in an account and region. */
export const webAclMetricName = ({ name }: Environment): string => `wallet-${name}`;

/** Headers with credentials, redacted in the log and in the console's request samples. */
const SECRET_HEADERS = ['authorization', 'x-svc-useraction'];

/**
 * The AWS managed rule groups, in the order of evaluation, after the rate rules, each with the rules that only count: they would block
 * legitimate callers. The groups follow AWS's default version, so that new signatures apply without a deployment.
 * https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-list.html
 */
const MANAGED_RULE_GROUPS: Readonly<Record<string, readonly string[]>> = {
  AWSManagedRulesAmazonIpReputationList: [],
  AWSManagedRulesKnownBadInputsRuleSet: [],
  AWSManagedRulesCommonRuleSet: [
    // Callers are programs; many HTTP clients send no User-Agent.
    'NoUserAgent_HEADER',
    // The function itself rejects bodies, with `body_not_allowed`.
    'SizeRestrictions_BODY',
  ],
};

/** The regional firewall before a stage. Blocked requests get `WAF_FILTERED`: a rule's own response could not contain the request id. */
export class WebAcl extends Construct {
  private readonly arn: string;

  constructor(scope: Construct, id: string, { environment, stage, publishedAddresses }: WebAclProps) {
    super(scope, id);
    const published = new CfnIPSet(this, 'Published', {
      scope: 'REGIONAL',
      ipAddressVersion: 'IPV4',
      addresses: publishedAddresses.map((address) => `${address}/32`),
    });
    const secrets = { fieldType: 'SINGLE_HEADER', fieldKeys: SECRET_HEADERS };
    const webAcl = new CfnWebACL(this, 'Resource', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      rules: [
        // A company's callers often share one address: a row may permit it more.
        rateRule('RequestsPerAddress', 0, {
          limit: environment.throttle.requestsPerAddress ?? 2_000,
          evaluationWindowSec: 300,
        }),
        rateRule('CheckRequestsPerAddress', 1, {
          limit: 10,
          evaluationWindowSec: 60,
          scopeDownStatement: strangersAtCheck(published.attrArn),
        }),
        ...managedRules,
      ],
      visibilityConfig: visibility(webAclMetricName(environment)),
      dataProtectionConfig: { dataProtections: [{ field: secrets, action: 'SUBSTITUTION' }] },
    });
    this.arn = webAcl.attrArn;
    this.protect(this, stage);

    const stack = Stack.of(this);
    // The stack's own id is part of the name, so that a retained log group does not block a new stack.
    const stackGuid = Fn.select(2, Fn.split('/', stack.stackId));
    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: Fn.join('-', ['aws-waf-logs-wallet', environment.name, stackGuid]),
      retention: environment.logRetentionDays,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    // The attribute `Arn` of a log group ends in `:*`, the ARN that AWS WAF requires does not
    // (https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html).
    const logGroupArn = stack.formatArn({ service: 'logs', resource: `log-group:${logGroup.logGroupName}` });
    const logged = ['BLOCK', 'COUNT', 'EXCLUDED_AS_COUNT'].map((Action) => ({ ActionCondition: { Action } }));
    new CfnLoggingConfiguration(this, 'Logging', {
      resourceArn: webAcl.attrArn,
      logDestinationConfigs: [logGroupArn],
      redactedFields: SECRET_HEADERS.map((name) => ({ singleHeader: { Name: name } })),
      loggingFilter: {
        DefaultBehavior: 'DROP',
        Filters: [{ Behavior: 'KEEP', Requirement: 'MEETS_ANY', Conditions: logged }],
      },
    });
  }

  /** Protects another stage; `scope` becomes the parent of the association. */
  protect(scope: Construct, stage: Stage): void {
    new CfnWebACLAssociation(scope, 'Association', { webAclArn: this.arn, resourceArn: stage.stageArn });
  }
}

/** Blocks an address while it sends more requests than `limit` in the window. */
const rateRule = (
  name: string,
  priority: number,
  limited: Omit<CfnWebACL.RateBasedStatementProperty, 'aggregateKeyType'>,
): CfnWebACL.RuleProperty => ({
  name,
  priority,
  action: { block: {} },
  statement: { rateBasedStatement: { aggregateKeyType: 'IP', ...limited } },
  visibilityConfig: visibility(name),
});

/**
 * Strangers at the environment's own receiver. Ten requests a minute, the least that AWS WAF can count: a few addresses cannot use up
 * the throttle of its method, and a genuine probe from another one gets there. The path begins with the stage. It is matched in two
 * ways: `/%63heck` must be decoded first, and `/check/..%2F` last, because normalizing what is decoded removes it.
 * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-high-level-settings.html
 */
const strangersAtCheck = (publishedArn: string): CfnWebACL.StatementProperty => ({
  andStatement: {
    statements: [
      {
        orStatement: {
          statements: [
            isForCheck('URL_DECODE', 'NORMALIZE_PATH'),
            isForCheck('NORMALIZE_PATH', 'URL_DECODE'),
          ],
        },
      },
      { notStatement: { statement: { ipSetReferenceStatement: { arn: publishedArn } } } },
    ],
  },
});

const isForCheck = (...transformations: readonly string[]): CfnWebACL.StatementProperty => ({
  byteMatchStatement: {
    fieldToMatch: { uriPath: {} },
    textTransformations: transformations.map((type, priority) => ({ type, priority })),
    positionalConstraint: 'CONTAINS',
    searchString: `${checkPath}/`,
  },
});

const managedRules = Object.entries(MANAGED_RULE_GROUPS).map(
  ([name, counted], index): CfnWebACL.RuleProperty => ({
    name,
    priority: index + 2,
    overrideAction: { none: {} },
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        // AWS WAF rejected an empty list: https://github.com/globaldatanet/aws-firewall-factory/pull/53
        ...(counted.length > 0 && {
          ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
        }),
      },
    },
    visibilityConfig: visibility(name),
  }),
);

function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true, metricName };
}
