import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, environments } from '../../lib/environments';
import { projectRoot } from '../architecture/sources';
import { synthesizeEveryStack } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

/**
 * What is promised, by type and beginning of the logical id of the resource, for every stack that has it. Values are literals, or the
 * row's. `DeletionPolicy` says what outlives the stack: by default nothing.
 */
type Values = (row: Environment, isStandby: boolean) => Json;
type Promise = readonly [resource: string, writtenIn: string, Values];

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
const source = (deadLetters: string, functionTimeout: number) => () => ({
  ...{ ...queue, MaximumMessageSize: 255 * 1_024, VisibilityTimeout: 6 * functionTimeout },
  RedrivePolicy: { maxReceiveCount: 1_000, deadLetterTargetArn: { 'Fn::GetAtt': [deadLetters, 'Arn'] } },
});
const consumer = (MaximumConcurrency: number) => () => ({
  ...{ BatchSize: 10, ScalingConfig: { MaximumConcurrency } },
  FunctionResponseTypes: ['ReportBatchItemFailures'],
});
const lambda =
  (Timeout: number, MemorySize: number | undefined = 512, more: Json = {}) =>
  () => ({
    Timeout,
    ...(MemorySize && { MemorySize }),
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    ...more,
  });
const tls = 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09';
const regionalApi = () => ({
  ...{ EndpointConfiguration: { Types: ['REGIONAL'] }, SecurityPolicy: tls, EndpointAccessMode: 'STRICT' },
});
const stage = ({ throttle }: Environment) => ({
  MethodSettings: expect.arrayContaining([
    expect.objectContaining({
      ...{ HttpMethod: '*', ResourcePath: '/*', LoggingLevel: 'OFF', DataTraceEnabled: false },
      ...{ ThrottlingRateLimit: throttle.requestsPerSecond, ThrottlingBurstLimit: throttle.burst },
    }),
  ]),
});
const signingKey = () => ({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY', ...outlives });
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
const passwords = (PasswordLength: number) => ({ GenerateSecretString: { PasswordLength } });
const schedule =
  (ScheduleExpression: string, retries = 2, seconds = 7_200) =>
  () => ({
    ...{ ScheduleExpression, State: 'ENABLED' },
    Targets: [{ RetryPolicy: { MaximumEventAgeInSeconds: seconds, MaximumRetryAttempts: retries } }],
  });

const promises: readonly Promise[] = [
  [
    'AWS::EC2::EIP WebhookOriginElasticIp',
    'docs/reference.md: retained when the stack is deleted',
    () => outlives,
  ],
  ['AWS::EC2::NatGateway WebhookOrigin', 'docs/decisions/webhook-origin.md', () => ({})],
  ['AWS::EC2::InternetGateway Network', 'docs/decisions/webhook-origin.md', () => ({})],
  ['AWS::EC2::FlowLog Network', 'docs/runbook/alarms.md: flow log', () => ({ TrafficType: 'ALL' })],
  [
    'AWS::EC2::VPCEndpoint SchemaMigration',
    'docs/decisions/database-access.md',
    () => ({ PrivateDnsEnabled: true }),
  ],

  [
    'AWS::RDS::DBCluster DatabaseCluster',
    'lib/environments.ts: backupRetentionDays',
    (row, isStandby) => ({
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
  ],
  [
    'AWS::RDS::DBInstance DatabaseWriter',
    'docs/decisions/database-versions.md',
    (row, isStandby) => ({
      ...{ AutoMinorVersionUpgrade: false, PubliclyAccessible: false, PromotionTier: 0 },
      ...protectedWith(row, isStandby),
    }),
  ],
  [
    'AWS::RDS::DBInstance DatabaseReader',
    'docs/runbook/emergencies.md: Aurora promotes the reader',
    (row, isStandby) => ({
      ...{ AutoMinorVersionUpgrade: false, PubliclyAccessible: false, PromotionTier: 1 },
      ...protectedWith(row, isStandby),
    }),
  ],
  [
    'AWS::RDS::GlobalCluster Database',
    'docs/decisions/standby.md',
    () => ({ DeletionProtection: true, ...with_('Retain') }),
  ],
  [
    'AWS::RDS::DBClusterParameterGroup Database',
    'docs/decisions/database-access.md',
    (row, isStandby) => ({ Parameters: { 'rds.force_ssl': '1' }, ...protectedWith(row, isStandby) }),
  ],
  ['AWS::RDS::DBSubnetGroup Database', 'docs/decisions/database-access.md', protectedWith],
  [
    'AWS::SecretsManager::Secret DatabaseMasterSecret',
    'docs/runbook/planned-work.md: Changing a database password',
    (row, isStandby) => ({ ...passwords(30), ...protectedWith(row, isStandby) }),
  ],
  [
    'AWS::SecretsManager::Secret Secret',
    'docs/runbook/planned-work.md: Changing a database password',
    () => ({ ...passwords(40), ...with_('Delete') }),
  ],
  [
    'AWS::KMS::Key DatabaseKey',
    'docs/decisions/standby.md',
    (row, isStandby) => ({
      EnableKeyRotation: true,
      ...(row.database.deletionProtection && !isStandby ? with_('Retain') : outlives),
    }),
  ],
  [
    'AWS::KMS::Key OperationsKey',
    'docs/decisions/alarms.md',
    () => ({ EnableKeyRotation: true, ...outlives }),
  ],
  ['AWS::KMS::Key AccessTokenSigningKey', 'docs/reference.md: keys that sign access tokens', signingKey],
  [
    'AWS::KMS::Key UserActionSigningKey',
    'docs/reference.md: keys that sign access tokens and user actions',
    signingKey,
  ],
  [
    'AWS::KMS::Key WebhookSecretsKey',
    'docs/receivers.md: secret',
    () => ({ KeySpec: 'HMAC_256', KeyUsage: 'GENERATE_VERIFY_MAC', ...outlives }),
  ],

  [
    'AWS::Backup::LogicallyAirGappedBackupVault AirGappedVault',
    'docs/decisions/air-gapped-backups.md: Minimum and maximum retention are equal',
    () => ({ MinRetentionDays: 35, MaxRetentionDays: 35, ...outlives }),
  ],
  [
    'AWS::Backup::BackupVault AirGappedBackups',
    'docs/runbook/planned-work.md: the vault for temporary backups',
    () => outlives,
  ],
  [
    'AWS::Backup::BackupPlan AirGappedBackups',
    'docs/decisions/air-gapped-backups.md',
    () => ({
      BackupPlan: {
        BackupPlanRule: [{ ScheduleExpression: 'cron(0 1 ? * * *)', Lifecycle: { DeleteAfterDays: 35 } }],
      },
    }),
  ],
  ['AWS::Backup::BackupSelection AirGappedBackups', 'docs/decisions/air-gapped-backups.md', () => ({})],
  [
    'AWS::Backup::RestoreTestingPlan AirGappedBackups',
    'docs/runbook/alarms.md: Every three days',
    () => ({ ScheduleExpression: 'cron(0 8 1/3 * ? *)', StartWindowHours: 1 }),
  ],
  [
    'AWS::Backup::RestoreTestingSelection AirGappedBackups',
    'docs/decisions/air-gapped-backups.md: into the isolated subnets',
    () => ({ RestoreMetadataOverrides: { dbSubnetGroupName: { Ref: 'DatabaseSubnets' } } }),
  ],

  [
    'AWS::SQS::Queue WebhookEventsDeadLetterQueue',
    'docs/events.md: 14 days',
    () => ({ ...queue, MaximumMessageSize: 256 * 1_024 }),
  ],
  [
    'AWS::SQS::Queue WebhookDeliveryDeadLetterQueue',
    'docs/runbook/alarms.md: 14 days',
    () => ({ ...queue, MaximumMessageSize: 256 * 1_024 }),
  ],
  [
    'AWS::SQS::Queue WebhookEventsQueue',
    'docs/runbook/alarms.md: crashed their function a thousand times',
    source('WebhookEventsDeadLetterQueue', 45),
  ],
  [
    'AWS::SQS::Queue WebhookDeliveryQueue',
    'docs/receivers.md: for up to 14 days',
    source('WebhookDeliveryDeadLetterQueue', 75),
  ],
  [
    'AWS::SQS::Queue WebhookRetryQueue',
    'docs/receivers.md: for up to 14 days',
    source('WebhookDeliveryDeadLetterQueue', 75),
  ],
  [
    'AWS::Lambda::EventSourceMapping WebhooksFanOutEvent',
    'docs/reference.md: **Fan-out concurrency** | 10 ×',
    consumer(10),
  ],
  [
    'AWS::Lambda::EventSourceMapping WebhooksDeliverWebhookSource',
    'docs/reference.md: each lane | 20 invocations',
    consumer(20),
  ],
  [
    'AWS::Lambda::EventSourceMapping WebhooksDeliverWebhookRetry',
    'docs/reference.md: each lane | 20 invocations',
    consumer(20),
  ],

  ['AWS::ApiGateway::RestApi ', 'docs/decisions/api.md', regionalApi],
  ['AWS::ApiGateway::Stage ', 'lib/environments.ts: throttle', stage],
  [
    'AWS::ApiGateway::Authorizer Api',
    'docs/operating.md: 60 seconds',
    () => ({ AuthorizerResultTtlInSeconds: 60, IdentitySource: 'method.request.header.Authorization' }),
  ],
  [
    'AWS::WAFv2::WebACL Api',
    'docs/runbook/alarms.md: more than 2,000 requests in five minutes',
    () => ({
      ...{ Scope: 'REGIONAL', DefaultAction: { Allow: {} } },
      Rules: [
        {
          ...{ Name: 'RequestsPerAddress', Action: { Block: {} } },
          Statement: {
            RateBasedStatement: { Limit: 2_000, AggregateKeyType: 'IP', EvaluationWindowSec: 300 },
          },
        },
        managed('AWSManagedRulesAmazonIpReputationList'),
        managed('AWSManagedRulesKnownBadInputsRuleSet'),
        managed('AWSManagedRulesCommonRuleSet', 'NoUserAgent_HEADER', 'SizeRestrictions_BODY'),
      ],
    }),
  ],
  [
    'AWS::WAFv2::LoggingConfiguration Api',
    'docs/runbook/alarms.md: terminatingRuleId',
    () => ({
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
    }),
  ],

  // A day, or as many minutes as the row has.
  [
    'AWS::Lambda::Function AuthorizeRequest',
    'lib/environment/schema.ts: accessTokenMinutes',
    ({ accessTokenMinutes = 24 * 60 }) =>
      lambda(5, 512, { Environment: { Variables: { TOKEN_LIFETIME: String(60 * accessTokenMinutes) } } })(),
  ],
  ['AWS::Lambda::Function DeleteUserGroup', 'lib/stacks/region-stack.ts: 29 s', lambda(28, 1_024)],
  ['AWS::Lambda::Function RunOperation', 'docs/decisions/database-access.md', lambda(30)],
  ['AWS::Lambda::Function WebhooksFanOutEvent', 'docs/decisions/webhook-delivery.md', lambda(45)],
  ['AWS::Lambda::Function WebhooksDeliverWebhook', 'docs/decisions/webhook-delivery.md', lambda(75)],
  ['AWS::Lambda::Function CheckDelivery', 'docs/decisions/probe.md', lambda(10)],
  ['AWS::Lambda::Function ProbeProbeWebhooks', 'docs/decisions/probe.md', lambda(30)],
  ['AWS::Events::Rule Probe', 'docs/decisions/probe.md: five minutes', schedule('rate(5 minutes)', 0, 300)],
  ['AWS::Lambda::Function WebhooksPurgeExpired', 'docs/decisions/webhook-delivery.md', lambda(300)],
  ['AWS::Lambda::Function DashboardServeDashboard', 'docs/decisions/dashboard.md', lambda(5, 256)],
  [
    'AWS::Lambda::Function SchemaMigrationMigrateSchema',
    'docs/runbook/planned-work.md: eight minutes',
    lambda(14 * 60),
  ],
  [
    'AWS::Lambda::Function SchemaMigrationProvider',
    'lib/functions/deployment-provider.ts: 15 minutes',
    lambda(15 * 60, 0),
  ],
  ['AWS::Lambda::Function SigningKeysExportJwks', 'docs/decisions/api.md', lambda(30)],
  [
    'AWS::Lambda::Function SigningKeysProvider',
    'lib/functions/deployment-provider.ts: 15 minutes',
    lambda(15 * 60, 0),
  ],
  ['AWS::Lambda::Function CustomVpcRestrictDefaultSG', 'lib/network/network.ts', lambda(15 * 60, 128)],
  ['Custom::SigningKeySet SigningKeys', 'docs/decisions/api.md', () => ({ ServiceTimeout: '120' })],
  [
    'AWS::Events::Rule WebhooksPurge',
    'docs/decisions/webhook-delivery.md', // A database that may pause is woken once a day.
    ({ database }) => schedule(database.pauseAfterMinutes ? 'cron(17 3 * * ? *)' : 'cron(17 * * * ? *)')(),
  ],
  ['AWS::Events::Rule \\w+KeepActive', 'docs/runbook/alarms.md: daily event', schedule('rate(1 day)')],

  ['AWS::Logs::LogGroup (Api|Dashboard)AccessLog', 'docs/decisions/api.md', keptLog],
  ['AWS::Logs::LogGroup ApiWebAclLog', 'docs/runbook/alarms.md: aws-waf-logs-wallet', keptLog],
  [
    'AWS::Logs::LogGroup DatabaseLog',
    'lib/environments.ts: logRetentionDays',
    (row, isStandby) => ({ ...log(row), ...protectedWith(row, isStandby) }),
  ],
  [
    'AWS::Logs::LogGroup (?!Api|Dashboard(?!Serve)|DatabaseLog)',
    'lib/environments.ts: logRetentionDays',
    log,
  ],
];

/** Types that hold state, face the internet, or bound what happens: each of their resources has one row above. */
const guarded =
  /^AWS::(EC2::(EIP|NatGateway|InternetGateway|FlowLog|VPCEndpoint|VPNGateway|EgressOnlyInternetGateway)|RDS::\w+|SecretsManager::Secret|KMS::Key|SQS::Queue|S3::Bucket|DynamoDB::\w+|Backup::\w+|Lambda::(Function|Url|EventSourceMapping)|ApiGateway::(RestApi|Stage|Authorizer)|WAFv2::(WebACL|LoggingConfiguration)|Logs::LogGroup|Events::Rule)$|^Custom::SigningKeySet$/;

const rowsOf = (resource: string) => promises.filter(([pattern]) => new RegExp(`^${pattern}`).test(resource));
const stacks = Object.entries(synthesizeEveryStack());

describe.each(stacks)('%s', (name, { environment, resources }) => {
  it('keeps what is promised of each resource with state, a limit or a way to the internet', () => {
    for (const { Type, logicalId, Properties, DeletionPolicy, UpdateReplacePolicy } of resources) {
      if (!guarded.test(Type)) continue;
      const resource = `${Type} ${logicalId}`;
      const rows = rowsOf(resource);
      expect([resource, rows.map(([pattern]) => pattern)]).toEqual([resource, [expect.any(String)]]);
      const found = { resource, ...Properties, DeletionPolicy, UpdateReplacePolicy };
      const promised = rows[0]?.[2](environment, name !== environment.stackId);
      expect(found).toMatchObject({ resource, ...promised });
      // Beyond the table, a resource goes with its stack.
      if (!promised.DeletionPolicy)
        expect([resource, DeletionPolicy ?? 'Delete']).toEqual([resource, 'Delete']);
    }
  });
});

it.each(promises)('%s has a resource, and is written in %s', (pattern, writtenIn) => {
  const every = stacks.flatMap(([, { resources }]) => resources);
  expect(every.some(({ Type, logicalId }) => new RegExp(`^${pattern}`).test(`${Type} ${logicalId}`))).toBe(
    true,
  );
  const [file = '', words = ''] = writtenIn.split(': ');
  expect(existsSync(join(projectRoot, file))).toBe(true);
  expect(readFileSync(join(projectRoot, file), 'utf8').replaceAll(/\s+/g, ' ')).toContain(words);
});

it('the table of environments has the values that customers were told', () => {
  const told = {
    eu: 'SLA 0.999, data-api, 35 days, 365 days, 200/400, 2-32, 1 reader, protected, eu-central-1 eu-west-1',
    uae: 'SLA 0.999, direct, 35 days, 365 days, 200/400, 2-32, 1 reader, protected, me-central-1',
    staging:
      'no SLA, data-api, 7 days, 30 days, 20/40, 0-4 after 15 min, 0 reader, test funds only, eu-west-3',
  };
  const found = environments.map((row) => {
    const { capacity, readers, deletionProtection, backupRetentionDays, pauseAfterMinutes } = row.database;
    const parts = [
      row.serviceLevelAgreement ? `SLA ${row.objective?.availability}` : 'no SLA',
      row.databaseAccess,
      `${backupRetentionDays} days, ${row.logRetentionDays} days`,
      `${row.throttle.requestsPerSecond}/${row.throttle.burst}`,
      `${capacity.minimum}-${capacity.maximum}${pauseAfterMinutes ? ` after ${pauseAfterMinutes} min` : ''}`,
      `${readers} reader`,
      ...(deletionProtection ? ['protected'] : []),
      ...(row.testFundsOnly ? ['test funds only'] : []),
      row.residencyRegions.join(' '),
    ];
    return [row.name, parts.join(', ')];
  });
  expect(Object.fromEntries(found)).toEqual(told);
});
