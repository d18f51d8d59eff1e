import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepActiveEvent } from '../../lambda/shared/variables';
import type { Environment } from '../../lib/environment/schema';
import { projectRoot } from '../architecture/sources';
import { type Resource, stacksOfShapes } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

/**
 * What is promised of a resource: literals, or the row's. `DeletionPolicy` says what outlives the stack: by default nothing.
 */
type Values = Readonly<Record<string, Json>> | ((row: Environment, isStandby: boolean) => Json);

const days = (count: number) => count * 24 * 3_600;
const outlives = { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' };
const with_ = (policy: string) => ({ DeletionPolicy: policy, UpdateReplacePolicy: policy });
/** The database outlives a protected stack, but not as a replica. */
const protectedWith = ({ database }: Environment, isStandby: boolean, otherwise = 'Delete') =>
  with_(database.deletionProtection && !isStandby ? 'Retain' : otherwise);
const log = ({ logRetentionDays }: Environment) => ({
  RetentionInDays: logRetentionDays,
  ...with_('Delete'),
});
const keptLog = (row: Environment) => ({ ...log(row), ...outlives });
const queue = { MessageRetentionPeriod: days(14), SqsManagedSseEnabled: true, ...outlives };
const deadLetterQueue = { ...queue, MaximumMessageSize: 256 * 1_024 };
const sourceQueue = (deadLetters: string, visibilityTimeout: number) => ({
  ...{ ...queue, MaximumMessageSize: 255 * 1_024, VisibilityTimeout: visibilityTimeout },
  RedrivePolicy: { maxReceiveCount: 1_000, deadLetterTargetArn: { 'Fn::GetAtt': [deadLetters, 'Arn'] } },
});
const consumer = (MaximumConcurrency: number) => ({
  ...{ BatchSize: 10, ScalingConfig: { MaximumConcurrency } },
  FunctionResponseTypes: ['ReportBatchItemFailures'],
});
const regionalApi = {
  EndpointConfiguration: { Types: ['REGIONAL'] },
  SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
  EndpointAccessMode: 'STRICT',
};
const runtime = {
  Runtime: 'nodejs24.x',
  Architectures: ['arm64'],
  // Metric filters read members of a line.
  LoggingConfig: { LogFormat: 'JSON' },
};
const lambda = (Timeout: number, MemorySize = 512) => ({ Timeout, MemorySize, ...runtime });
/** The CDK's framework for custom resources sets these. */
const provider = { Timeout: 15 * 60, ...runtime };
const instance =
  (PromotionTier: number): Values =>
  (row, isStandby) => ({
    ...{ AutoMinorVersionUpgrade: false, PubliclyAccessible: false, PromotionTier },
    ...protectedWith(row, isStandby),
  });
const signingKey = { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY', ...outlives };
const passwords = (PasswordLength: number) => ({ GenerateSecretString: { PasswordLength } });
const managed = (Name: string, ...counted: readonly string[]) => ({
  ...{ Name, OverrideAction: { None: {} } },
  Statement: {
    ManagedRuleGroupStatement: {
      ...{ VendorName: 'AWS', Name },
      ...(counted.length > 0 && {
        RuleActionOverrides: counted.map((rule) => ({ Name: rule, ActionToUse: { Count: {} } })),
      }),
    },
  },
});
const backupEvent = (jobs: string, detail: object) => ({
  EventPattern: { source: ['aws.backup'], 'detail-type': [`${jobs} Job State Change`], detail },
  Targets: [{ Input: JSON.stringify(keepActiveEvent) }],
});
const schedule = (ScheduleExpression: string, retries = 2, seconds = 7_200) => ({
  ...{ ScheduleExpression, State: 'ENABLED' },
  Targets: [{ RetryPolicy: { MaximumEventAgeInSeconds: seconds, MaximumRetryAttempts: retries } }],
});

/**
 * By the document that says so, with words of it, then by type and beginning of the logical id: for every stack that has the resource.
 */
const promises: Readonly<Record<string, Readonly<Record<string, Values>>>> = {
  'docs/reference.md: retained when the stack is deleted': {
    'EC2::EIP WebhookOrigin(Reserve)?ElasticIp': outlives,
  },
  'docs/decisions/webhook-origin.md': {
    'EC2::NatGateway WebhookOrigin': {},
    'EC2::InternetGateway Network': {},
  },
  'docs/runbook/alarms.md: flow log': { 'EC2::FlowLog Network': { TrafficType: 'ALL' } },
  'lib/environment/schema.ts: backupRetentionDays': {
    'RDS::DBCluster DatabaseCluster': (row, isStandby) => ({
      BackupRetentionPeriod: row.database.backupRetentionDays,
      ...{ CopyTagsToSnapshot: true, StorageEncrypted: true, EngineVersion: '17.9' },
      ServerlessV2ScalingConfiguration: {
        MinCapacity: row.database.capacity.minimum,
        MaxCapacity: row.database.capacity.maximum,
        ...(row.database.pauseAfterMinutes && { SecondsUntilAutoPause: 60 * row.database.pauseAfterMinutes }),
      },
      ...(!isStandby && row.serviceLevelAgreement && { PerformanceInsightsRetentionPeriod: 7 }),
      ...protectedWith(row, isStandby, isStandby ? 'Delete' : 'Snapshot'),
    }),
  },
  'docs/decisions/database-versions.md': { 'RDS::DBInstance DatabaseWriter': instance(0) },
  'docs/runbook/emergencies.md: Aurora promotes the reader': {
    'RDS::DBInstance DatabaseReader': instance(1),
  },
  'docs/decisions/database-access.md': {
    'EC2::VPCEndpoint SchemaMigration': { PrivateDnsEnabled: true },
    'RDS::DBClusterParameterGroup Database': (row, isStandby) => ({
      Parameters: { 'rds.force_ssl': '1' },
      ...protectedWith(row, isStandby),
    }),
    'RDS::DBSubnetGroup Database': protectedWith,
    'Lambda::Function RunOperation': lambda(30),
  },
  'docs/runbook/planned-work.md: Changing a database password': {
    'SecretsManager::Secret DatabaseMasterSecret': (row, isStandby) => ({
      ...passwords(30),
      ...protectedWith(row, isStandby),
    }),
    'SecretsManager::Secret Secret': { ...passwords(40), ...with_('Delete') },
  },
  'docs/decisions/standby.md': {
    'RDS::GlobalCluster Database': { DeletionProtection: true, ...with_('Retain') },
    'KMS::Key DatabaseKey': ({ database }, isStandby) => ({
      EnableKeyRotation: true,
      ...(database.deletionProtection && !isStandby ? with_('Retain') : outlives),
    }),
  },
  'docs/decisions/alarms.md': { 'KMS::Key OperationsKey': { EnableKeyRotation: true, ...outlives } },
  'docs/reference.md: keys that sign access tokens and user actions': {
    'KMS::Key AccessTokenSigningKey': signingKey,
    'KMS::Key UserActionSigningKey': signingKey,
  },
  'docs/receivers.md: secret': {
    'KMS::Key WebhookSecretsKey': { KeySpec: 'HMAC_256', KeyUsage: 'GENERATE_VERIFY_MAC', ...outlives },
  },

  'docs/decisions/air-gapped-backups.md: Minimum and maximum retention are equal': {
    'Backup::LogicallyAirGappedBackupVault AirGappedVault': ({ airGappedBackups }) => ({
      MinRetentionDays: airGappedBackups?.retentionDays ?? 35,
      MaxRetentionDays: airGappedBackups?.retentionDays ?? 35,
      ...outlives,
    }),
    'Backup::BackupPlan AirGappedBackups': ({ airGappedBackups }) => ({
      BackupPlan: {
        BackupPlanRule: [
          {
            ScheduleExpression: 'cron(0 1 ? * * *)',
            Lifecycle: { DeleteAfterDays: airGappedBackups?.retentionDays ?? 35 },
          },
        ],
      },
    }),
    'Backup::BackupSelection AirGappedBackups': {},
  },
  'docs/runbook/planned-work.md: the vault for temporary backups': {
    'Backup::BackupVault AirGappedBackups': outlives,
  },
  'docs/runbook/alarms.md: Every three days': {
    'Backup::RestoreTestingPlan AirGappedBackups': {
      ...{ ScheduleExpression: 'cron(0 8 1/3 * ? *)', StartWindowHours: 1 },
    },
    'Backup::RestoreTestingSelection AirGappedBackups': {},
  },

  'docs/events.md: 14 days': { 'SQS::Queue WebhookEventsDeadLetterQueue': deadLetterQueue },
  'docs/runbook/alarms.md: 14 days': { 'SQS::Queue WebhookDeliveryDeadLetterQueue': deadLetterQueue },
  'docs/runbook/alarms.md: crashed their function a thousand times': {
    'SQS::Queue WebhookEventsQueue': sourceQueue('WebhookEventsDeadLetterQueue', 60),
  },
  'docs/receivers.md: for up to 14 days': {
    'SQS::Queue WebhookDeliveryQueue': sourceQueue('WebhookDeliveryDeadLetterQueue', 95),
    'SQS::Queue WebhookRetryQueue': sourceQueue('WebhookDeliveryDeadLetterQueue', 95),
  },
  'docs/reference.md: **Fan-out** | 10 ×': {
    'Lambda::EventSourceMapping WebhooksFanOutEvent': consumer(10),
  },
  'docs/reference.md: **Delivery queue** | 20 invocations': {
    'Lambda::EventSourceMapping WebhooksDeliverWebhookSource': consumer(20),
  },
  'docs/reference.md: slow and failing webhooks | 20 invocations': {
    'Lambda::EventSourceMapping WebhooksDeliverWebhookRetry': consumer(20),
  },
  'docs/decisions/webhook-delivery.md': {
    'Lambda::Function WebhooksFanOutEvent': lambda(56),
    'Lambda::Function WebhooksDeliverWebhook': lambda(90),
    'Lambda::Function WebhooksPurgeExpired': lambda(300),
    // A database that may pause is woken once a day.
    'Events::Rule WebhooksPurge': ({ database }) =>
      schedule(database.pauseAfterMinutes ? 'cron(17 3 * * ? *)' : 'cron(17 * * * ? *)'),
  },
  'docs/decisions/probe.md: five minutes': {
    'Lambda::Function CheckDelivery': lambda(10),
    'Lambda::Function ProbeProbeWebhooks': lambda(30),
    'Events::Rule Probe': schedule('rate(5 minutes)', 0, 300),
  },

  'docs/decisions/api.md': {
    'ApiGateway::RestApi Api': regionalApi,
    'ApiGateway::RestApi Dashboard': { ...regionalApi, MinimumCompressionSize: 4_096 },
    'Lambda::Function SigningKeysExportJwks': lambda(30),
    'SigningKeySet SigningKeys': { ServiceTimeout: '120' },
    'Logs::LogGroup (Api|Dashboard)AccessLog': keptLog,
  },
  'lib/environment/schema.ts: throttle': {
    'ApiGateway::Stage ': ({ throttle }) => ({
      MethodSettings: expect.arrayContaining([
        expect.objectContaining({
          ...{ HttpMethod: '*', ResourcePath: '/*', LoggingLevel: 'OFF', DataTraceEnabled: false },
          ...{ ThrottlingRateLimit: throttle.requestsPerSecond, ThrottlingBurstLimit: throttle.burst },
        }),
      ]),
    }),
  },
  'docs/operating.md: 60 seconds': {
    'ApiGateway::Authorizer Api': {
      ...{ AuthorizerResultTtlInSeconds: 60, IdentitySource: 'method.request.header.Authorization' },
    },
  },
  'docs/decisions/probe.md: ten requests a minute': { 'WAFv2::IPSet Api': { Scope: 'REGIONAL' } },
  'docs/runbook/alarms.md: more than 2,000 requests in five minutes': {
    'WAFv2::WebACL Api': ({ throttle }) => ({
      ...{ Scope: 'REGIONAL', DefaultAction: { Allow: {} } },
      Rules: [
        {
          ...{ Name: 'RequestsPerAddress', Action: { Block: {} } },
          Statement: {
            RateBasedStatement: {
              Limit: throttle.requestsPerAddress ?? 2_000,
              AggregateKeyType: 'IP',
              EvaluationWindowSec: 300,
            },
          },
        },
        {
          ...{ Name: 'CheckRequestsPerAddress', Action: { Block: {} } },
          Statement: { RateBasedStatement: { Limit: 10, AggregateKeyType: 'IP', EvaluationWindowSec: 60 } },
        },
        managed('AWSManagedRulesAmazonIpReputationList'),
        managed('AWSManagedRulesKnownBadInputsRuleSet'),
        managed('AWSManagedRulesCommonRuleSet', 'NoUserAgent_HEADER', 'SizeRestrictions_BODY'),
      ],
    }),
  },
  'docs/runbook/alarms.md: terminatingRuleId': {
    'WAFv2::LoggingConfiguration Api': {
      LoggingFilter: {
        DefaultBehavior: 'DROP',
        Filters: [
          {
            ...{ Behavior: 'KEEP', Requirement: 'MEETS_ANY' },
            Conditions: ['BLOCK', 'COUNT', 'EXCLUDED_AS_COUNT'].map((Action) => ({
              ActionCondition: { Action },
            })),
          },
        ],
      },
    },
  },
  'docs/runbook/alarms.md: aws-waf-logs-wallet': { 'Logs::LogGroup ApiWebAclLog': keptLog },
  'lib/environment/schema.ts: accessTokenMinutes': {
    // A day, or as many minutes as the row has.
    'Lambda::Function AuthorizeRequest': ({ accessTokenMinutes = 24 * 60 }) => ({
      ...lambda(5),
      Environment: { Variables: { TOKEN_LIFETIME: String(60 * accessTokenMinutes) } },
    }),
  },
  'lib/api/routes.ts: 29 s': { 'Lambda::Function DeleteUserGroup': lambda(28, 1_024) },
  'docs/decisions/dashboard.md': { 'Lambda::Function DashboardServeDashboard': lambda(5, 256) },
  'docs/runbook/planned-work.md: eight minutes': {
    'Lambda::Function SchemaMigrationMigrateSchema': lambda(14 * 60),
  },
  'lib/functions/deployment-provider.ts: 15 minutes': {
    'Lambda::Function (SchemaMigration|SigningKeys)Provider': provider,
  },
  'lib/network/network.ts': { 'Lambda::Function CustomVpcRestrictDefaultSG': lambda(15 * 60, 128) },
  // Fields as in AWS's sample events: https://docs.aws.amazon.com/aws-backup/latest/devguide/eventbridge.html
  'lib/monitoring/backup-alarms.ts': {
    'Events::Rule MonitoringBackupEventsCopy': backupEvent('Copy', {
      state: ['COMPLETED'],
      destinationBackupVaultArn: [{ 'Fn::GetAtt': ['AirGappedVault', 'BackupVaultArn'] }],
    }),
    'Events::Rule MonitoringBackupEventsRestore': backupEvent('Restore', {
      status: ['COMPLETED'],
      restoreTestingPlanArn: [{ 'Fn::GetAtt': [expect.stringMatching(/Drill/), 'RestoreTestingPlanArn'] }],
    }),
  },
  'docs/runbook/alarms.md: daily event': { 'Events::Rule \\w+KeepActive': schedule('rate(1 day)') },
  'lib/environment/schema.ts: logRetentionDays': {
    'Logs::LogGroup DatabaseLog': (row, isStandby) => ({ ...log(row), ...protectedWith(row, isStandby) }),
    'Logs::LogGroup (?!Api|Dashboard(?!Serve)|DatabaseLog)': log,
  },
};

/** Types that hold state, face the internet, or bound what happens: each of their resources has one row above. */
const guarded =
  /^AWS::(EC2::(EIP|NatGateway|InternetGateway|FlowLog|VPCEndpoint|VPNGateway|EgressOnlyInternetGateway)|RDS::\w+|SecretsManager::Secret|KMS::Key|SQS::Queue|S3::Bucket|DynamoDB::\w+|Backup::\w+|Lambda::(Function|Url|EventSourceMapping)|ApiGateway::(RestApi|Stage|Authorizer)|WAFv2::(WebACL|IPSet|LoggingConfiguration)|Logs::LogGroup|Events::Rule)$|^Custom::SigningKeySet$/;

const stacks = stacksOfShapes();
const nameOf = ({ Type, logicalId }: Resource) => `${Type.replace(/^(AWS|Custom)::/, '')} ${logicalId}`;
const rows = Object.values(promises).flatMap((row) => Object.entries(row));

it.each(stacks)(
  '%s keeps what is promised of each resource with state, a limit or a way to the internet',
  (_, { environment, serves, resources }) => {
    for (const each of resources.filter(({ Type }) => guarded.test(Type))) {
      const resource = nameOf(each);
      const matching = rows.filter(([pattern]) => new RegExp(`^${pattern}`).test(resource));
      expect([resource, matching]).toEqual([resource, [expect.anything()]]);
      const values = matching[0]?.[1];
      const promised = typeof values === 'function' ? values(environment, !serves) : values;
      const { Properties, DeletionPolicy, UpdateReplacePolicy } = each;
      const found = { resource, ...Properties, DeletionPolicy, UpdateReplacePolicy };
      expect(found).toMatchObject({ resource, ...promised });
      // Beyond the table, a resource goes with its stack.
      if (!promised.DeletionPolicy)
        expect([resource, DeletionPolicy ?? 'Delete']).toEqual([resource, 'Delete']);
    }
  },
);

it.each(Object.entries(promises))('%s is written, of resources that exist', (writtenIn, promised) => {
  const [file = '', words = ''] = writtenIn.split(': ');
  const text = readFileSync(join(projectRoot, file), 'utf8').replaceAll(/\s+/g, ' ');
  expect([file, text.includes(words)]).toEqual([file, true]);
  const every = stacks.flatMap(([, { resources }]) => resources.map(nameOf));
  const unused = Object.keys(promised).filter(
    (pattern) => !every.some((resource) => new RegExp(`^${pattern}`).test(resource)),
  );
  expect(unused).toEqual([]);
});
