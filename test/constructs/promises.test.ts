import { keepActiveEvent } from '../../lambda/shared/variables';
import type { Environment } from '../../lib/environment/schema';
import { type Json, type Resource, type StackTemplate, stacksOfShapes } from '../support/stacks';

/** What is promised of a resource: literals, or the row's. `DeletionPolicy` says what outlives the stack: by default nothing. */
type Values = Readonly<Record<string, Json>> | ((row: Environment, isStandby: boolean) => Json);

const days = (count: number) => count * 24 * 3_600;
const outlives = { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' };
const policies = (policy: string) => ({ DeletionPolicy: policy, UpdateReplacePolicy: policy });
/** The database outlives a protected stack, but not as a replica. */
const protectedOr = ({ database }: Environment, isStandby: boolean, otherwise = 'Delete') =>
  policies(database.deletionProtection && !isStandby ? 'Retain' : otherwise);
const log = ({ logRetentionDays }: Environment) => ({
  RetentionInDays: logRetentionDays,
  ...policies('Delete'),
});
const keptLog = (row: Environment) => ({ ...log(row), ...outlives });
const queue = { MessageRetentionPeriod: days(14), SqsManagedSseEnabled: true, ...outlives };
const deadLetterQueue = { ...queue, MaximumMessageSize: 256 * 1_024 };
const sourceQueue = (deadLetters: string, visibilityTimeout: number) => ({
  ...queue,
  MaximumMessageSize: 255 * 1_024,
  VisibilityTimeout: visibilityTimeout,
  RedrivePolicy: { maxReceiveCount: 1_000, deadLetterTargetArn: { 'Fn::GetAtt': [deadLetters, 'Arn'] } },
});
const consumer = (MaximumConcurrency: number) => ({
  BatchSize: 10,
  ScalingConfig: { MaximumConcurrency },
  FunctionResponseTypes: ['ReportBatchItemFailures'],
});
const regionalApi = {
  EndpointConfiguration: { Types: ['REGIONAL'] },
  SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
  EndpointAccessMode: 'STRICT',
};
const lambda = (Timeout: number, MemorySize?: number) => ({
  Timeout,
  ...(MemorySize && { MemorySize }),
  Runtime: 'nodejs24.x',
  Architectures: ['arm64'],
  // Metric filters read members of a line.
  LoggingConfig: { LogFormat: 'JSON' },
});
const instance =
  (PromotionTier: number): Values =>
  (row, isStandby) => ({
    AutoMinorVersionUpgrade: false,
    PubliclyAccessible: false,
    PromotionTier,
    ...protectedOr(row, isStandby),
  });
const password = (PasswordLength: number) => ({ GenerateSecretString: { PasswordLength } });
const managed = (Name: string, ...counted: readonly string[]) => ({
  Name,
  OverrideAction: { None: {} },
  Statement: {
    ManagedRuleGroupStatement: {
      VendorName: 'AWS',
      Name,
      ...(counted.length > 0 && {
        RuleActionOverrides: counted.map((rule) => ({ Name: rule, ActionToUse: { Count: {} } })),
      }),
    },
  },
});
const limited = (Name: string, Limit: number, EvaluationWindowSec: number) => ({
  Name,
  Action: { Block: {} },
  Statement: { RateBasedStatement: { Limit, AggregateKeyType: 'IP', EvaluationWindowSec } },
});
const backupEvent = (jobs: string, detail: object) => ({
  EventPattern: { source: ['aws.backup'], 'detail-type': [`${jobs} Job State Change`], detail },
  Targets: [{ Input: JSON.stringify(keepActiveEvent) }],
});
const retried = (MaximumRetryAttempts: number, MaximumEventAgeInSeconds: number) => ({
  State: 'ENABLED',
  Targets: [{ RetryPolicy: { MaximumEventAgeInSeconds, MaximumRetryAttempts } }],
});

/** By type and beginning of the logical id: for every stack that has the resource. */
const promises: Readonly<Record<string, Values>> = {
  'EC2::EIP WebhookOrigin(Reserve)?ElasticIp': outlives,
  'EC2::NatGateway WebhookOrigin': {},
  'EC2::InternetGateway Network': {},
  'EC2::FlowLog Network': { TrafficType: 'ALL' },
  'EC2::VPCEndpoint SchemaMigration': { PrivateDnsEnabled: true },

  'RDS::DBCluster DatabaseCluster': (row, isStandby) => ({
    BackupRetentionPeriod: row.database.backupRetentionDays,
    CopyTagsToSnapshot: true,
    EngineVersion: '17.9',
    ServerlessV2ScalingConfiguration: {
      MinCapacity: row.database.capacity.minimum,
      MaxCapacity: row.database.capacity.maximum,
      ...(row.database.pauseAfterMinutes && { SecondsUntilAutoPause: 60 * row.database.pauseAfterMinutes }),
    },
    ...(!isStandby && row.serviceLevelAgreement && { PerformanceInsightsRetentionPeriod: 7 }),
    ...protectedOr(row, isStandby, isStandby ? 'Delete' : 'Snapshot'),
  }),
  'RDS::DBInstance DatabaseWriter': instance(0),
  'RDS::DBInstance DatabaseReader': instance(1),
  'RDS::DBClusterParameterGroup Database': (row, isStandby) => ({
    Parameters: { 'rds.force_ssl': '1' },
    ...protectedOr(row, isStandby),
  }),
  'RDS::DBSubnetGroup Database': protectedOr,
  'RDS::GlobalCluster Database': { DeletionProtection: true, ...policies('Retain') },
  'SecretsManager::Secret DatabaseMasterSecret': (row, isStandby) => ({
    ...password(30),
    ...protectedOr(row, isStandby),
  }),
  'SecretsManager::Secret Secret': { ...password(40), ...policies('Delete') },
  'KMS::Key DatabaseKey': ({ database }, isStandby) => ({
    EnableKeyRotation: true,
    ...(database.deletionProtection && !isStandby ? policies('Retain') : outlives),
  }),
  'KMS::Key OperationsKey': { EnableKeyRotation: true, ...outlives },
  'KMS::Key (AccessTokenSigning|UserActionSigning|WebhookSecrets)Key': outlives,

  'Backup::LogicallyAirGappedBackupVault AirGappedVault': outlives,
  'Backup::BackupVault AirGappedBackups': outlives,
  // Their properties: air-gapped-backups.test.ts.
  'Backup::(BackupPlan|BackupSelection|RestoreTestingSelection) AirGappedBackups': {},
  'Backup::RestoreTestingPlan AirGappedBackups': {
    ScheduleExpression: 'cron(0 8 1/3 * ? *)',
    StartWindowHours: 1,
  },

  'SQS::Queue Webhook(Events|Delivery)DeadLetterQueue': deadLetterQueue,
  'SQS::Queue WebhookEventsQueue': sourceQueue('WebhookEventsDeadLetterQueue', 60),
  'SQS::Queue Webhook(Delivery|Retry)Queue': sourceQueue('WebhookDeliveryDeadLetterQueue', 95),
  'Lambda::EventSourceMapping WebhooksFanOutEvent': consumer(10),
  'Lambda::EventSourceMapping WebhooksDeliverWebhook': consumer(20),

  // A day, or as many minutes as the row has.
  'Lambda::Function AuthorizeRequest': ({ accessTokenMinutes = 24 * 60 }) => ({
    ...lambda(5, 512),
    Environment: { Variables: { TOKEN_LIFETIME: String(60 * accessTokenMinutes) } },
  }),
  'Lambda::Function DeleteUserGroup': lambda(28, 1_024),
  'Lambda::Function (RunOperation|SigningKeysExportJwks|ProbeProbeWebhooks)': lambda(30, 512),
  'Lambda::Function WebhooksFanOutEvent': lambda(56, 512),
  'Lambda::Function WebhooksDeliverWebhook': lambda(90, 512),
  'Lambda::Function WebhooksPurgeExpired': lambda(300, 512),
  'Lambda::Function CheckDelivery': lambda(10, 512),
  'Lambda::Function DashboardServeDashboard': lambda(5, 256),
  'Lambda::Function SchemaMigrationMigrateSchema': lambda(14 * 60, 512),
  // The CDK's own.
  'Lambda::Function (SchemaMigration|SigningKeys)Provider': lambda(15 * 60),
  'Lambda::Function CustomVpcRestrictDefaultSG': lambda(15 * 60, 128),
  'SigningKeySet SigningKeys': { ServiceTimeout: '120' },

  // Their schedules: stacks.test.ts.
  'Events::Rule (WebhooksPurge|\\w+KeepActive)': retried(2, 7_200),
  'Events::Rule Probe(?!\\w*KeepActive)': retried(0, 300),
  // Fields as in AWS's sample events: https://docs.aws.amazon.com/aws-backup/latest/devguide/eventbridge.html
  'Events::Rule MonitoringBackupEventsCopy': backupEvent('Copy', {
    state: ['COMPLETED'],
    destinationBackupVaultArn: [{ 'Fn::GetAtt': ['AirGappedVault', 'BackupVaultArn'] }],
  }),
  'Events::Rule MonitoringBackupEventsRestore': backupEvent('Restore', {
    status: ['COMPLETED'],
    restoreTestingPlanArn: [{ 'Fn::GetAtt': [expect.stringMatching(/Drill/), 'RestoreTestingPlanArn'] }],
  }),

  'ApiGateway::RestApi Api': regionalApi,
  'ApiGateway::RestApi Dashboard': { ...regionalApi, MinimumCompressionSize: 4_096 },
  'ApiGateway::Stage ': ({ throttle }) => ({
    MethodSettings: expect.arrayContaining([
      expect.objectContaining({
        HttpMethod: '*',
        ResourcePath: '/*',
        LoggingLevel: 'OFF',
        DataTraceEnabled: false,
        ThrottlingRateLimit: throttle.requestsPerSecond,
        ThrottlingBurstLimit: throttle.burst,
      }),
    ]),
  }),
  'ApiGateway::Authorizer Api': {
    AuthorizerResultTtlInSeconds: 60,
    IdentitySource: 'method.request.header.Authorization',
  },
  'WAFv2::IPSet Api': { Scope: 'REGIONAL' },
  'WAFv2::WebACL Api': ({ throttle }) => ({
    Scope: 'REGIONAL',
    DefaultAction: { Allow: {} },
    Rules: [
      limited('RequestsPerAddress', throttle.requestsPerAddress ?? 2_000, 300),
      limited('CheckRequestsPerAddress', 10, 60),
      managed('AWSManagedRulesAmazonIpReputationList'),
      managed('AWSManagedRulesKnownBadInputsRuleSet'),
      managed('AWSManagedRulesCommonRuleSet', 'NoUserAgent_HEADER', 'SizeRestrictions_BODY'),
    ],
  }),
  'WAFv2::LoggingConfiguration Api': {
    LoggingFilter: {
      DefaultBehavior: 'DROP',
      Filters: [
        {
          Behavior: 'KEEP',
          Requirement: 'MEETS_ANY',
          Conditions: ['BLOCK', 'COUNT', 'EXCLUDED_AS_COUNT'].map((Action) => ({
            ActionCondition: { Action },
          })),
        },
      ],
    },
  },

  'Logs::LogGroup (ApiAccess|DashboardAccess|ApiWebAcl)Log': keptLog,
  'Logs::LogGroup DatabaseLog': (row, isStandby) => ({ ...log(row), ...protectedOr(row, isStandby) }),
  'Logs::LogGroup (?!Api|Dashboard(?!Serve)|DatabaseLog)': log,
};

/** Types that hold state, face the internet, or bound what happens: each of their resources has one row above. */
const guarded =
  /^AWS::(EC2::(EIP|NatGateway|InternetGateway|FlowLog|VPCEndpoint|VPNGateway|EgressOnlyInternetGateway)|RDS::\w+|SecretsManager::Secret|KMS::Key|SQS::Queue|S3::Bucket|DynamoDB::\w+|Backup::\w+|Lambda::(Function|Url|EventSourceMapping)|ApiGateway::(RestApi|Stage|Authorizer)|WAFv2::(WebACL|IPSet|LoggingConfiguration)|Logs::LogGroup|Events::Rule)$|^Custom::SigningKeySet$/;

const stacks = stacksOfShapes();
const nameOf = ({ Type, logicalId }: Resource) => `${Type.replace(/^(AWS|Custom)::/, '')} ${logicalId}`;
const rows = Object.entries(promises);
const rowsOf = (each: Resource) => rows.filter(([pattern]) => new RegExp(`^${pattern}`).test(nameOf(each)));
const promisedOf = (each: Resource, { environment, serves }: StackTemplate): Json => {
  const values = rowsOf(each)[0]?.[1];
  return typeof values === 'function' ? values(environment, !serves) : values;
};

it.each(stacks)(
  '%s keeps what is promised of each resource with state, a limit or a way to the internet',
  (_, stack) => {
    for (const each of stack.resources.filter(({ Type }) => guarded.test(Type))) {
      const resource = nameOf(each);
      expect([resource, rowsOf(each)]).toEqual([resource, [expect.anything()]]);
      const promised = promisedOf(each, stack);
      const { Properties, DeletionPolicy, UpdateReplacePolicy } = each;
      const found = { resource, ...Properties, DeletionPolicy, UpdateReplacePolicy };
      expect(found).toMatchObject({ resource, ...promised });
      // Beyond the table, a resource goes with its stack.
      if (!promised.DeletionPolicy)
        expect([resource, DeletionPolicy ?? 'Delete']).toEqual([resource, 'Delete']);
    }
  },
);

it('every promise is of a resource that exists', () => {
  const every = stacks.flatMap(([, { resources }]) => resources.map(nameOf));
  const unused = Object.keys(promises).filter(
    (pattern) => !every.some((resource) => new RegExp(`^${pattern}`).test(resource)),
  );
  expect(unused).toEqual([]);
});

/** The row's own, or held by the tests of names, tags, alarms, policies and metrics. */
const heldElsewhere =
  /^(CloudWatch|IAM|Logs::MetricFilter)|[.](Ref|Fn::\w+|ResponseParameters|\w*Tags|\w*(Name|Identifier)|PolicyDocument|KeyPolicy|Environment|Label|AvailabilityZone|FieldKeys|Description|Priority)\b/;

/** The numbers, switches and words in a value, each after its path; neither texts nor references. */
const choices = (value: Json, path: string): (readonly [path: string, choice: string])[] => {
  if (heldElsewhere.test(path)) return [];
  if (typeof value !== 'object') return /^[\w.-]{1,50}$/.test(String(value)) ? [[path, String(value)]] : [];
  const names = Array.isArray(value) ? '' : '.';
  return Object.entries(value).flatMap(([name, each]) => choices(each, names ? `${path}.${name}` : path));
};

it('no stack has another number, switch or word of AWS, where the table promises nothing', () => {
  const chosen: Record<string, Set<string>> = {};
  for (const [, stack] of stacks)
    for (const each of stack.resources) {
      const promised = promisedOf(each, stack) ?? {};
      const others = Object.entries(each.Properties).filter(([name]) => !(name in promised));
      for (const [path, choice] of choices(Object.fromEntries(others), each.Type.replace(/^AWS::/, '')))
        chosen[path] = (chosen[path] ?? new Set()).add(choice);
    }
  const lines = Object.entries(chosen).map(([path, words]) => `${path}: ${[...words].sort().join(', ')}`);
  expect(lines.sort().join('\n')).toMatchSnapshot();
});
