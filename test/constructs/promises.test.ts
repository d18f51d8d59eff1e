import type { Environment } from '../../lib/environment/schema';
import { type Json, type Resource, type StackTemplate, stacksOfShapes } from '../support/stacks';

/** What becomes of a resource that is deleted, and of one that is replaced. */
const policies = (deleted: string, replaced = deleted) => ({ Policies: `${deleted} ${replaced}` });
/** The database outlives a protected stack, but not as a replica. */
const protectedOr = ({ environment, serves }: StackTemplate, deleted: string, replaced = deleted) =>
  environment.database.deletionProtection && serves ? policies('Retain') : policies(deleted, replaced);

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
  'RDS::DB(Instance|ClusterParameter|Subnet)|SecretsManager::Secret DatabaseMaster': (_, stack) =>
    protectedOr(stack, 'Delete'),
  'KMS::Key DatabaseKey': (_, stack) => protectedOr(stack, 'RetainExceptOnCreate', 'Retain'),
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
    ...protectedOr(stack, 'Delete'),
  }),
  'Logs::LogGroup (?!DatabaseLog)': ({ logRetentionDays }) => ({ RetentionInDays: logRetentionDays }),
};

const nameOf = ({ Type, logicalId }: Resource) => `${Type.replace(/^(AWS|Custom)::/, '')} ${logicalId}`;
const promisedOf = (each: Resource, stack: StackTemplate): Json => {
  const found = Object.entries(ofRow).find(([pattern]) => new RegExp(`^(${pattern})`).test(nameOf(each)));
  return found?.[1](stack.environment, stack) ?? {};
};

/** By default, a resource goes with its stack. */
const propertiesOf = ({ Properties, DeletionPolicy, UpdateReplacePolicy }: Resource) => ({
  ...Properties,
  ...policies(DeletionPolicy ?? 'Delete', UpdateReplacePolicy ?? 'Delete'),
});

const stacks = stacksOfShapes();

it.each(stacks)('%s has what its row says', (_, stack) => {
  for (const each of stack.resources) {
    const resource = nameOf(each);
    expect({ resource, ...propertiesOf(each) }).toMatchObject({ resource, ...promisedOf(each, stack) });
  }
});

/** References are below; other tests hold routes, responses, texts, names, tags, alarms, policies and metrics. */
const heldElsewhere = [
  /^(ApiGateway::(GatewayResponse|Resource)|CloudWatch|Condition|IAM|Output|Parameter)/,
  /[.](Ref|Fn::\w+|ResponseParameters|\w*Tags|PolicyDocument|KeyPolicy|Environment|AvailabilityZone|\w*Description|CidrBlock|Priority)\b/,
  /(?<!(RuleGroupStatement|SingleHeader|Transformations))[.]\w*(Name|Identifier)\b/,
  // Of the document of the API; of the residency rules; of state-baseline.txt; of region-trial.yaml.
  /[.](AuthorizationType|\w*HttpMethod|Id|StatusCode)\b/,
  /[.](Addresses|MapPublicIpOnLaunch|PubliclyAccessible|Scope|Types)\b/,
  /[.](Domain|Engine|KeySpec|KeyUsage|MasterUsername|MultiRegion)\b/,
  /[.](Architectures|Runtime)\b/,
  // The CDK's only value, or a trifle.
  /[.](Handler|InstanceTenancy|LogDestinationType|ResourceType|SampledRequestsEnabled|VendorName|VpcEndpointType)\b/,
];

/** The numbers, switches, words and schedules in a value, each after its path; a resource is deleted unless it says more. */
const choices = (value: Json, path: string): (readonly [path: string, choice: string])[] => {
  if (heldElsewhere.some((pattern) => pattern.test(path))) return [];
  if (typeof value !== 'object')
    return /^(?!Delete Delete$)[\w .()*?/-]{1,50}$|^(\{ )?\$/.test(value) ? [[path, String(value)]] : [];
  const entries = Object.entries(value);
  // As `Block: {}`.
  if (entries.length === 0) return [[path, '']];
  return entries.flatMap(([name, each]) => choices(each, Array.isArray(value) ? path : `${path}.${name}`));
};

/** Resources of these types differ: a choice that not all make has the names of those that do. */
const isDiffering =
  /^(Events::Rule|KMS::Key|RDS::DBInstance|Lambda::(EventSourceMapping|Function)|Logs::MetricFilter|SQS::Queue|SecretsManager::Secret|EC2::SecurityGroup)$/;

/** By path and text, how many resources of each name have it; by type, how many there are. */
type Counts = Record<string, Record<string, Record<string, number>>>;
const count = (counts: Counts, path: string, text: string, id: string) => {
  const of = { ...counts[path]?.[text] };
  counts[path] = { ...counts[path], [text]: { ...of, [id]: (of[id] ?? 0) + 1 } };
};

const isCompared = /^(Api|Dashboard|WebhookOrigin)|KeyArn$/;
/** Conditions, parameters and outputs, each as a resource of its own type. End-to-end tests use the other outputs. */
const declarationsOf = ({ json }: StackTemplate) =>
  (['Condition', 'Output', 'Parameter'] as const).flatMap((kind) =>
    Object.entries<Json>(json[`${kind}s`] ?? {}).flatMap(([logicalId, Properties]): Resource[] =>
      isCompared.test(logicalId) ? [{ logicalId, Type: `${kind} ${logicalId}`, Properties }] : [],
    ),
  );

const typeOf = ({ Type }: Resource) => Type.replace(/^AWS::/, '');

/** Without hashes and names of the row; in what belongs to a subnet, without its number. */
function nameIn(text: string, { logicalId }: Resource, { listed, environment }: StackTemplate) {
  const [, zone] = /Subnet(\d)/.exec(logicalId) ?? [];
  return text
    .replace(/(?<=\w)[0-9A-F]{8}(?=\W|$)/g, '')
    .replaceAll(listed.region, '{region}')
    .replaceAll(`wallet-${environment.name}`, 'wallet')
    .replace(/(?<=\D)Wallet[A-Z]\w*/g, '')
    .replace(/NetworkVpc(\w+)Subnet(\d)(Subnet)?/g, (_, kind, of) => (of === zone ? kind : kind + of));
}

/** What the CDK derives; policies, alarms, metrics and texts have tests of their own. */
const notOfReferences =
  /^(ApiGateway::(Account|Deployment|GatewayResponse|Resource)|CloudWatch|Custom::Vpc|EC2::(RouteTable|Subnet|VPCGateway)|IAM|Lambda::Permission)|[.](Code|DeploymentId|FACTS|KeyPolicy|PolicyDocument|ResourceId|Response(Parameters|Templates)|(?<!Mapping[.])RestApiId|Stage|Role|VpcId|\w*Tags)\b/;

const shown = (value: Json): string => {
  if (typeof value !== 'object') return `${value}`;
  const parts: Json[] | undefined = value['Fn::Join']?.[1];
  return parts ? parts.map(shown).join('') : `{${Object.values<Json>(value).flat().map(shown).join('.')}}`;
};

const references = (value: Json, path: string): (readonly [path: string, text: string])[] => {
  if (typeof value !== 'object' || notOfReferences.test(path)) return [];
  if (/^(Ref|Fn::\w+)$/.test(Object.keys(value).join())) return [[path, shown(value)]];
  return Object.entries(value).flatMap(([name, each]) =>
    references(each, Array.isArray(value) ? path : `${path}.${name}`),
  );
};

/** A resource's choices and references, each after its path and with who has it, unless that does not matter. */
function entriesOf(each: Resource, stack: StackTemplate, id: string) {
  const { Type, Properties, DependsOn = [], Condition, Metadata } = each;
  const { Value, Description: _, ...definition } = Properties;
  if (!Type.includes('::'))
    return [[Type, nameIn(Value ? shown(Value) : JSON.stringify(definition), each, stack), ''] as const];
  const others = { ...propertiesOf(each) };
  for (const name of Object.keys(promisedOf(each, stack))) delete others[name];
  const before = [DependsOn].flat().filter((other) => !/Role|RouteTableAssociation/.test(other));
  const all = { ...Properties, DependsOn: before.map((Ref) => ({ Ref })), After: Metadata?.After ?? [] };
  const texts: Record<string, string> = {};
  const referring = Condition ? { ...all, Condition: { Ref: Condition } } : all;
  for (const [path, text] of references(referring, typeOf(each)))
    texts[path] = `${texts[path] ?? ''} ${nameIn(text, each, stack).replaceAll(`{${id}`, '{own')}`.trim();
  const owner = isDiffering.test(typeOf(each)) ? id : '';
  return [
    ...choices(others, typeOf(each)).map((entry) => [...entry, owner] as const),
    ...Object.entries(texts).map((entry) => [...entry, id] as const),
  ];
}

it('no stack has another number, switch, word of AWS, reference, condition, predecessor, output or parameter', () => {
  const [found, all]: [Counts, Counts] = [{}, {}];
  for (const [, stack] of stacks)
    for (const each of [...stack.resources, ...declarationsOf(stack)]) {
      const id = nameIn(each.logicalId, each, stack);
      count(all, typeOf(each), '', id);
      for (const [path, text, owner] of entriesOf(each, stack, id)) count(found, path, text, owner);
    }
  // A line for each path, with who has a text unless all of the type do; with `?` who has none in other stacks.
  const lines = Object.entries(found).map(([path, makersOf]) => {
    const [type = ''] = path.split('.');
    const ids = Object.entries(all[type]?.[''] ?? {});
    const sum = (id: string) => Object.values(makersOf).reduce((sum, makers) => sum + (makers[id] ?? 0), 0);
    const sometimes = ids.filter(([id, number]) => sum(id) < number).map(([id]) => id);
    const texts = Object.entries(makersOf).map(([text, makers]) => {
      const names = Object.keys(makers).map((id) => (sometimes.includes(id) ? `${id}?` : id));
      const isOfAll = names.length === ids.length && sometimes.length === 0;
      return isOfAll || '' in makers ? text : `${text} (${names.sort().join(' ')})`;
    });
    return `${path}: ${texts.sort().join(', ')}`;
  });
  expect(lines.sort().join('\n')).toMatchSnapshot();
});
