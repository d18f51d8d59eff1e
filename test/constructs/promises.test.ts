import type { Environment } from '../../lib/environment/schema';
import { type Json, type Resource, type StackTemplate, stacksOfShapes } from '../support/stacks';

const policies = (policy: string) => ({ DeletionPolicy: policy, UpdateReplacePolicy: policy });
/** The database outlives a protected stack, but not as a replica. */
const protectedOr = ({ environment, serves }: StackTemplate, otherwise = 'Delete') =>
  policies(environment.database.deletionProtection && serves ? 'Retain' : otherwise);

/** What depends on the row, by type and the beginning of the logical id. */
const ofRow: Readonly<Record<string, (row: Environment, stack: StackTemplate) => Json>> = {
  'RDS::DBCluster ': ({ database, databaseAccess, serviceLevelAgreement }, stack) => ({
    BackupRetentionPeriod: database.backupRetentionDays,
    DeletionProtection: database.deletionProtection && stack.serves,
    ...(stack.serves && {
      EnableHttpEndpoint: databaseAccess === 'data-api',
      EnableIAMDatabaseAuthentication: databaseAccess === 'direct',
    }),
    ServerlessV2ScalingConfiguration: {
      MinCapacity: database.capacity.minimum,
      MaxCapacity: database.capacity.maximum,
      ...(database.pauseAfterMinutes && { SecondsUntilAutoPause: 60 * database.pauseAfterMinutes }),
    },
    ...(stack.serves && serviceLevelAgreement && { PerformanceInsightsRetentionPeriod: 7 }),
    ...protectedOr(stack, stack.serves ? 'Snapshot' : 'Delete'),
  }),
  'RDS::DB(Instance|ClusterParameterGroup|SubnetGroup) |SecretsManager::Secret DatabaseMasterSecret': (
    _,
    stack,
  ) => protectedOr(stack),
  'KMS::Key DatabaseKey': (_, stack) => ({
    ...protectedOr(stack, 'RetainExceptOnCreate'),
    UpdateReplacePolicy: 'Retain',
  }),
  'Lambda::Function AuthorizeRequest': ({ accessTokenMinutes = 24 * 60 }) => ({
    Environment: { Variables: { TOKEN_LIFETIME: String(60 * accessTokenMinutes) } },
  }),
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
  // Each run wakes a database that pauses.
  'Events::Rule WebhooksPurge': ({ database }) => ({
    ScheduleExpression: `cron(17 ${database.capacity.minimum === 0 ? '3' : '*'} * * ? *)`,
  }),
  'Logs::LogGroup DatabaseLog': ({ logRetentionDays }, stack) => ({
    RetentionInDays: logRetentionDays,
    ...protectedOr(stack),
  }),
  'Logs::LogGroup (?!DatabaseLog)': ({ logRetentionDays }) => ({ RetentionInDays: logRetentionDays }),
};

const nameOf = ({ Type, logicalId }: Resource) => `${Type.replace(/^(AWS|Custom)::/, '')} ${logicalId}`;
const promisedOf = (each: Resource, stack: StackTemplate): Json => {
  const found = Object.entries(ofRow).find(([pattern]) => new RegExp(`^(${pattern})`).test(nameOf(each)));
  return found?.[1](stack.environment, stack) ?? {};
};

/** By default, a resource goes with its stack. */
const propertiesOf = ({
  Properties,
  DeletionPolicy = 'Delete',
  UpdateReplacePolicy = 'Delete',
}: Resource) => ({
  ...Properties,
  DeletionPolicy,
  UpdateReplacePolicy,
});

const stacks = stacksOfShapes();

it.each(stacks)('%s has what its row says', (_, stack) => {
  for (const each of stack.resources) {
    const resource = nameOf(each);
    expect({ resource, ...propertiesOf(each) }).toMatchObject({ resource, ...promisedOf(each, stack) });
  }
});

/** References, texts, and what the tests of names, tags, alarms, policies and metrics hold. */
const heldElsewhere =
  /^(CloudWatch|IAM|Logs::MetricFilter)|[.](Ref|(?<!Redrive.*|EventPattern.*)Fn::\w+|ResponseParameters|\w*Tags|(?<!RuleGroupStatement[.])\w*(Name|Identifier)|PolicyDocument|KeyPolicy|Environment|Label|AvailabilityZone|FieldKeys|\w*Description|CidrBlock|Addresses|Priority)\b/;

/** The numbers, switches, words and schedules in a value, each after its path; a resource is deleted unless it says more. */
const choices = (value: Json, path: string): (readonly [path: string, choice: string])[] => {
  if (heldElsewhere.test(path)) return [];
  if (typeof value !== 'object')
    return /^(?!Delete$)[\w .()*?/-]{1,50}$/.test(value) ? [[path, String(value)]] : [];
  const entries = Object.entries(value);
  // As `Block: {}`.
  if (entries.length === 0) return [[path, '']];
  return entries.flatMap(([name, each]) => choices(each, Array.isArray(value) ? path : `${path}.${name}`));
};

/** Resources of these types differ: a choice that not all make has the names of those that do. */
const isDiffering =
  /^(Events::Rule|KMS::Key|RDS::DBInstance|Lambda::(EventSourceMapping|Function)|SQS::Queue|SecretsManager::Secret|EC2::SecurityGroup)$/;

it('no stack has another number, switch or word of AWS', () => {
  const ids: Record<string, Set<string>> = {};
  const chosen: Record<string, Record<string, Set<string>>> = {};
  for (const [, stack] of stacks)
    for (const each of stack.resources) {
      const type = each.Type.replace(/^AWS::/, '');
      const id = each.logicalId.replace(/(?<=.)[0-9A-F]{8}$/, '');
      ids[type] = (ids[type] ?? new Set()).add(id);
      const promised = promisedOf(each, stack);
      const others = Object.entries(propertiesOf(each)).filter(([name]) => !(name in promised));
      for (const [path, choice] of choices(Object.fromEntries(others), type)) {
        const makers = chosen[path]?.[choice] ?? new Set();
        chosen[path] = { ...chosen[path], [choice]: makers.add(id) };
      }
    }
  const lines = Object.entries(chosen).map(([path, makersOf]) => {
    const [type = ''] = path.split('.');
    const texts = Object.entries(makersOf).map(([choice, makers]) =>
      isDiffering.test(type) && makers.size < (ids[type]?.size ?? 0)
        ? `${choice} (${[...makers].sort().join(' ')})`
        : choice,
    );
    return `${path}: ${texts.sort().join(', ')}`;
  });
  expect(lines.sort().join('\n')).toMatchSnapshot();
});
