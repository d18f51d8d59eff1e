import { ArnFormat, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

export interface WebAclProps {
  readonly stage: Stage;
  /** Part of the name of the log group, which AWS WAF wants to begin with `aws-waf-logs-`. */
  readonly environmentName: string;
  readonly logRetention: RetentionDays;
}

/** Requests that one address may send in five minutes. */
const REQUESTS_PER_ADDRESS = 2000;

/** Names the firewall among the metrics of `AWS/WAFV2`. */
export const webAclMetricName = 'WebAcl';

/** Headers that are credentials: neither the log nor the console's request samples may show them. */
const SECRET_HEADERS = ['authorization', 'x-svc-useraction'];

/**
 * The AWS managed rule groups, in the order of evaluation, after the rate rule. They follow AWS's default version, so
 * that new signatures arrive without a deployment.
 * https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-list.html
 */
const MANAGED_RULE_GROUPS: readonly ManagedRuleGroup[] = [
  { name: 'AWSManagedRulesAmazonIpReputationList', counted: [] },
  { name: 'AWSManagedRulesKnownBadInputsRuleSet', counted: [] },
  {
    name: 'AWSManagedRulesCommonRuleSet',
    counted: [
      // Callers are programs; many HTTP clients send no User-Agent.
      'NoUserAgent_HEADER',
      // A body of more than 8 KB is answered with `body_not_allowed` like any other body.
      'SizeRestrictions_BODY',
    ],
  },
];

interface ManagedRuleGroup {
  readonly name: string;
  /** Rules that would refuse an honest caller, or answer otherwise than the API's contract: counted, not blocked. */
  readonly counted: readonly string[];
}

/**
 * The regional firewall before a stage. What it blocks is answered by the gateway response `WAF_FILTERED`: a custom
 * response of a rule would win over that, and could not carry the request's id
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html).
 */
export class WebAcl extends Construct {
  private readonly arn: string;

  constructor(scope: Construct, id: string, props: WebAclProps) {
    super(scope, id);

    const webAcl = new CfnWebACL(this, 'Resource', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      rules: [rateRule(REQUESTS_PER_ADDRESS), ...MANAGED_RULE_GROUPS.map(managedRule)],
      visibilityConfig: visibility(webAclMetricName),
      dataProtectionConfig: {
        dataProtections: [
          { field: { fieldType: 'SINGLE_HEADER', fieldKeys: SECRET_HEADERS }, action: 'SUBSTITUTION' },
        ],
      },
    });

    this.arn = webAcl.attrArn;
    this.protect(this, props.stage);

    this.logBlockedRequests(webAcl, props);
  }

  /** Stands before a stage too; `scope` becomes the parent of the association. */
  protect(scope: Construct, stage: Stage): void {
    new CfnWebACLAssociation(scope, 'Association', { webAclArn: this.arn, resourceArn: stage.stageArn });
  }

  private logBlockedRequests(webAcl: CfnWebACL, props: WebAclProps): void {
    const stack = Stack.of(this);
    // The stack's own id is part of the name, so that a retained group does not stand in a new stack's way.
    const stackGuid = Fn.select(2, Fn.split('/', stack.stackId));
    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: Fn.join('-', ['aws-waf-logs-wallet', props.environmentName, stackGuid]),
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    // The attribute `Arn` of a log group ends in `:*`, the ARN that AWS WAF wants does not
    // (https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html).
    const logGroupArn = stack.formatArn({
      service: 'logs',
      resource: 'log-group',
      resourceName: logGroup.logGroupName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });

    new CfnLoggingConfiguration(this, 'Logging', {
      resourceArn: webAcl.attrArn,
      logDestinationConfigs: [logGroupArn],
      redactedFields: SECRET_HEADERS.map((name) => ({ singleHeader: { Name: name } })),
      loggingFilter: {
        DefaultBehavior: 'DROP',
        Filters: [
          {
            Behavior: 'KEEP',
            Requirement: 'MEETS_ANY',
            Conditions: [
              { ActionCondition: { Action: 'BLOCK' } },
              { ActionCondition: { Action: 'COUNT' } },
              { ActionCondition: { Action: 'EXCLUDED_AS_COUNT' } },
            ],
          },
        ],
      },
    });
  }
}

function rateRule(limit: number): CfnWebACL.RuleProperty {
  return {
    name: 'RequestsPerAddress',
    priority: 0,
    action: { block: {} },
    statement: { rateBasedStatement: { limit, aggregateKeyType: 'IP', evaluationWindowSec: 300 } },
    visibilityConfig: visibility('RequestsPerAddress'),
  };
}

function managedRule({ name, counted }: ManagedRuleGroup, index: number): CfnWebACL.RuleProperty {
  return {
    name,
    priority: index + 1,
    overrideAction: { none: {} },
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        // An empty list met a refusal: https://github.com/globaldatanet/aws-firewall-factory/pull/53
        ...(counted.length > 0 && {
          ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
        }),
      },
    },
    visibilityConfig: visibility(name),
  };
}

function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true, metricName };
}
