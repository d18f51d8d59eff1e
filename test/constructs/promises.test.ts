import { type Json, type Resource, type StackTemplate, stacksOfShapes } from '../support/stacks';

/** By default, a resource goes with its stack. */
const propertiesOf = ({ Properties, DeletionPolicy, UpdateReplacePolicy }: Resource) => ({
  ...Properties,
  Policies: `${DeletionPolicy ?? 'Delete'} ${UpdateReplacePolicy ?? 'Delete'}`,
});

/** References are below; other tests hold routes, responses, texts, names, tags, alarms, policies and metrics. */
const heldElsewhere = [
  /^(ApiGateway::(GatewayResponse|Resource)|CloudWatch|Condition|IAM|Output|Parameter)/,
  /[.](Ref|Fn::\w+|ResponseParameters|\w*Tags|PolicyDocument|KeyPolicy|Variables[.](?!TOKEN_LIFETIME$)\w+|AvailabilityZone|\w*Description|CidrBlock|Priority)\b/,
  /(?<!(RuleGroupStatement|SingleHeader|Transformations))[.]\w*(Name|Identifier)\b/,
  // Of the document of the API; of the residency rules; of state-baseline.txt; of region-trial.yaml.
  /[.](AuthorizationType|\w*HttpMethod|Id|StatusCode)\b/,
  /[.](Addresses|MapPublicIpOnLaunch|PubliclyAccessible|Scope|Types)\b/,
  /[.](Domain|Engine|KeySpec|KeyUsage|MasterUsername|MultiRegion)\b/,
  /[.](Architectures|Runtime)\b/,
  // The CDK's only value, or a trifle.
  /[.](Handler|InstanceTenancy|LogDestinationType|ResourceType|SampledRequestsEnabled|VendorName|VpcEndpointType)\b/,
];

type Entry = readonly [path: string, text: string];

/** The numbers, switches, words and schedules in a value, each after its path; a resource is deleted unless it says more. */
const choices = (value: Json, path: string): Entry[] => {
  if (heldElsewhere.some((pattern) => pattern.test(path))) return [];
  if (typeof value !== 'object')
    return /^(?!Delete Delete$)[\w .()*?/-]{1,50}$|^(\{ )?\$/.test(value) ? [[path, String(value)]] : [];
  const entries = Object.entries(value);
  // As `Block: {}`.
  if (entries.length === 0) return [[path, '']];
  return entries.flatMap(([name, each]) => choices(each, Array.isArray(value) ? path : `${path}.${name}`));
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

const references = (value: Json, path: string): Entry[] => {
  if (typeof value !== 'object' || notOfReferences.test(path)) return [];
  if (/^(Ref|Fn::\w+)$/.test(Object.keys(value).join())) return [[path, shown(value)]];
  return Object.entries(value).flatMap(([name, each]) =>
    references(each, Array.isArray(value) ? path : `${path}.${name}`),
  );
};

/** A resource's choices and references by path: of several, as in a list, each in its order. */
function textsOf(each: Resource, stack: StackTemplate, id: string): Readonly<Record<string, string>> {
  const { Type, Properties, DependsOn = [], Condition, Metadata } = each;
  const { Value, Description: _, ...definition } = Properties;
  if (!Type.includes('::'))
    return { [Type]: nameIn(Value ? shown(Value) : JSON.stringify(definition), each, stack) };
  const before = [DependsOn].flat().filter((other) => !/Role|RouteTableAssociation/.test(other));
  const all = { ...Properties, DependsOn: before.map((Ref) => ({ Ref })), After: Metadata?.After ?? [] };
  const referring = Condition ? { ...all, Condition: { Ref: Condition } } : all;
  const named = references(referring, typeOf(each)).map(([path, text]): Entry => {
    return [path, nameIn(text, each, stack).replaceAll(`{${id}`, '{own')];
  });
  const texts: Record<string, string> = {};
  for (const [path, text] of [...choices(propertiesOf(each), typeOf(each)), ...named])
    texts[path] = `${texts[path] ?? ''} ${text}`.trim();
  return texts;
}

it('no stack has another number, switch, word of AWS, reference, condition, predecessor, output or parameter', () => {
  const made = stacksOfShapes().flatMap(([title, stack]) =>
    [...stack.resources, ...declarationsOf(stack)].map((each) => {
      const id = nameIn(each.logicalId, each, stack);
      const shape = title.replace(/^\w+, /, stack.serves ? '' : 'standby ');
      return { type: typeOf(each), id, shape, texts: textsOf(each, stack, id) };
    }),
  );
  const paths = new Set(made.flatMap(({ texts }) => Object.keys(texts)));
  // A line for each path: its texts, each with who has it unless all of the type do, and where unless it is the same everywhere.
  const lines = Array.from(paths, (path) => {
    const all = made.filter(({ type }) => type === path.split('.')[0]);
    const ids = new Set(all.map(({ id }) => id));
    const varying = [...ids].filter((id) => {
      const its = all.filter((each) => each.id === id).map(({ texts }) => texts[path]);
      return new Set(its).size > 1;
    });
    const lists = Array.from(new Set(all.flatMap(({ texts }) => texts[path] ?? [])), (text) => {
      const those = all.filter(({ texts }) => texts[path] === text);
      const some = those.filter(({ id }) => varying.includes(id));
      const names = new Set(those.map(({ id }) => id));
      if (names.size === ids.size && [0, ids.size].includes(varying.length)) names.clear();
      const shapes = new Set(some.map(({ shape }) => shape));
      return [text, [...names].sort().join(' '), [...shapes].sort().join(', ')].filter(Boolean).join(' | ');
    });
    return `${path}: ${lists.sort().join('; ')}`;
  });
  expect(lines.sort().join('\n')).toMatchSnapshot();
});
