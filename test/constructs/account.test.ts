import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { AccountStack } from '../../lib/account/account-stack';
import { readAccountSettings } from '../../lib/account/settings';
import { commandLineContext } from '../../lib/app';
import { environments } from '../../lib/environments';
import { withStandby } from '../support/rows';
import { synthesizeEveryStack, withTemporaryFolder } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const account = '111122223333';
const { name, stackId, region, standby } = withStandby;
const context: Readonly<Record<string, string>> = {
  environments: name,
  repository: 'owner/name',
  budget: '500',
  email: 'on-call@example.com',
};

const settingsOf = (changes: Readonly<Record<string, string>>) =>
  readAccountSettings((key) => ({ ...context, ...changes })[key]);

/** The template's resources, their ARNs as in an account. Its checks: test/tools/synthesis.tool.ts. */
function synthesize(changes: Readonly<Record<string, string>> = {}): Json {
  const text = withTemporaryFolder((outdir) => {
    const app = new App({ outdir, context: commandLineContext(), builtinCloudFormationValidation: false });
    new AccountStack(app, settingsOf(changes));
    return readFileSync(app.synth().getStackByName(AccountStack.stackId).templateFullPath, 'utf8');
  });
  // `JSON.parse` revives from the inside: references first, then what joins them.
  return JSON.parse(text, (_, value) => {
    if (value?.Ref === 'AWS::Partition') return 'aws';
    if (value?.Ref === 'AWS::AccountId') return account;
    return value?.['Fn::Join'] ? value['Fn::Join'][1].join('') : value;
  }).Resources;
}

const resources = synthesize();
const title = name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
const roleOf = (kind: string, of = resources): Json => of[`${kind}${title}Role`].Properties;

it('has the provider, a budget and three roles for the environment, under ids that never change', () => {
  expect(Object.fromEntries(Object.entries<Json>(resources).map(([id, { Type }]) => [id, Type]))).toEqual({
    GithubProvider: 'AWS::IAM::OIDCProvider',
    Budget: 'AWS::Budgets::Budget',
    [`Deploy${title}Role`]: 'AWS::IAM::Role',
    [`Read${title}Role`]: 'AWS::IAM::Role',
    [`Operate${title}Role`]: 'AWS::IAM::Role',
  });
});

it.each([
  ['Deploy', name],
  ['Operate', name],
  ['Read', `${name}-read`],
])('the role %s trusts this repository in the GitHub environment %s, and nobody else', (kind, trusted) => {
  expect(roleOf(kind)).toMatchObject({
    RoleName: `wallet-${kind.toLowerCase()}-${name}`,
    MaxSessionDuration: 7200,
  });
  expect(roleOf(kind).AssumeRolePolicyDocument.Statement).toEqual([
    {
      Effect: 'Allow',
      Action: 'sts:AssumeRoleWithWebIdentity',
      Principal: { Federated: { Ref: 'GithubProvider' } },
      Condition: {
        StringEquals: {
          'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
          'token.actions.githubusercontent.com:sub': `repo:owner/name:environment:${trusted}`,
        },
      },
    },
  ]);
});

it('trusts immutable subjects, and an existing provider of the account', () => {
  const adopted = synthesize({ repository: 'owner@12/name@34', 'adopt-provider': 'true' });
  expect(adopted.GithubProvider).toBeUndefined();
  expect(roleOf('Deploy', adopted).AssumeRolePolicyDocument.Statement[0]).toMatchObject({
    Principal: { Federated: `arn:aws:iam::${account}:oidc-provider/token.actions.githubusercontent.com` },
    Condition: {
      StringEquals: {
        'token.actions.githubusercontent.com:sub': `repo:owner@12/name@34:environment:${name}`,
      },
    },
  });
});

it('has an unnamed budget, because new subscribers replace it, and sends mail before it is spent', () => {
  const { Budget, NotificationsWithSubscribers: mails } = resources.Budget.Properties;
  expect(Budget).toEqual({
    BudgetType: 'COST',
    TimeUnit: 'MONTHLY',
    BudgetLimit: { Amount: 500, Unit: 'USD' },
  });
  expect(mails.map(({ Notification }: Json) => Notification.NotificationType)).toEqual([
    'ACTUAL',
    'FORECASTED',
  ]);
  for (const { Subscribers } of mails)
    expect(Subscribers).toEqual([{ SubscriptionType: 'EMAIL', Address: context.email }]);
});

describe('the permissions of a role', () => {
  type StackName = Readonly<Record<'stackId' | 'region', string>>;
  /** An API call; `given` are the values of condition keys. */
  interface Call {
    readonly action: string;
    readonly resource: string;
    readonly given?: Readonly<Record<string, string>>;
  }

  const statementsOf = (kind: string): Json[] =>
    roleOf(kind).Policies.flatMap(({ PolicyDocument }: Json) => PolicyDocument.Statement);
  const matches = (pattern: string, text = '') =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(text);
  const allows = (kind: string, { action, resource, given = {} }: Call) =>
    statementsOf(kind).some(
      ({ Action, Resource, Condition = {} }) =>
        [Action].flat().includes(action) &&
        [Resource].flat().some((pattern) => matches(pattern, resource)) &&
        Object.values<Record<string, string>>(Condition)
          .flatMap((each) => Object.entries(each))
          .every(([key, pattern]) => matches(pattern, given[key])),
    );

  const templates = synthesizeEveryStack([withStandby]);
  const template = templates[stackId]?.json;
  const serving: StackName = { stackId, region };
  const stacks: readonly StackName[] = [serving, standby];
  const arn = (service: string, place: string, resource: string) =>
    `arn:aws:${service}:${place}:${account}:${resource}`;
  const bootstrapRole = (role: string, place: string) =>
    arn('iam', '', `role/cdk-hnb659fds-${role}-role-${account}-${place}`);
  const bucket = (place: string) => `arn:aws:s3:::cdk-hnb659fds-assets-${account}-${place}`;
  /** CloudFormation joins stack name, logical id and random letters. */
  const named = (output: string) => `${stackId}-${template.Outputs[output].Value.Ref}-ABC`;
  const tagsOf = (output: string): Record<string, string> => {
    const [key] = template.Outputs[output].Value['Fn::GetAtt'];
    const tags: Json[] = template.Resources[key].Properties.Tags;
    return Object.fromEntries(tags.map(({ Key, Value }) => [`aws:ResourceTag/${Key}`, Value]));
  };
  const keys = ['TokenSigningKeyArn', 'UserActionSigningKeyArn', 'WebhookSecretsKeyArn'];

  const planned = { 'cloudformation:ChangeSetName': 'wallet-plan-0123' };

  /** The resources of the calls to a service. */
  const targets: Readonly<Record<string, (stack: StackName) => readonly Omit<Call, 'action'>[]>> = {
    cloudformation: (stack) => [
      {
        resource: arn('cloudformation', stack.region, `stack/${stack.stackId}/0123`),
        given: planned,
      },
    ],
    s3: (stack) => [{ resource: `${bucket(stack.region)}/wallet-plan/wallet-plan-0123.json` }],
    ec2: (stack) => [{ resource: '*', given: { 'aws:RequestedRegion': stack.region } }],
    kms: () => keys.map((key) => ({ resource: arn('kms', region, 'key/0123'), given: tagsOf(key) })),
    // CloudFormation resolves parameters of SSM's types with the caller's rights.
    ssm: (stack) =>
      Object.values<Json>(templates[stack.stackId]?.json.Parameters)
        .filter(({ Type }) => Type.startsWith('AWS::SSM::Parameter::Value<'))
        .map(({ Default }) => ({ resource: arn('ssm', stack.region, `parameter${Default}`) })),
    sqs: () => [{ resource: arn('sqs', region, named('WebhookEventsQueueUrl')) }],
    lambda: () => [{ resource: arn('lambda', region, `function:${named('OperationsFunctionName')}`) }],
    'lambda:GetEventSourceMapping': () => [{ resource: arn('lambda', region, 'event-source-mapping:0123') }],
  };
  const callsOf = (action: string, stack: StackName): readonly Call[] =>
    (targets[action] ?? targets[action.split(':')[0] ?? ''])?.(stack).map((on) => ({ action, ...on })) ?? [
      { action, resource: 'unknown to this test' },
    ];

  /** The actions that docs/operating.md lists for a command. The tests of the commands refuse calls without a permission. */
  function actionsOf(command: string): readonly string[] {
    const [, section = ''] = readFileSync('docs/operating.md', 'utf8').split('## IAM permissions');
    const rows = section.split('\n## ')[0]?.matchAll(/^\| (.+?) \| (.+?) \|/gm) ?? [];
    let commands = '';
    let service = '';
    return Array.from(rows).flatMap(([, of = '', permissions = '']) => {
      if (of !== 'the same') commands = of;
      if (!commands.includes(`\`${command}\``)) return [];
      return Array.from(permissions.matchAll(/`(?:(\w+):)?([A-Z]\w+)`/g), ([, prefix = service, name]) => {
        service = prefix;
        return `${service}:${name}`;
      });
    });
  }
  const madeBy = (command: string, places: readonly StackName[]) =>
    places.flatMap((stack) => actionsOf(command).flatMap((action) => callsOf(action, stack)));
  const assuming = (...roles: string[]) =>
    roles.flatMap((role) =>
      stacks.map((stack) => ({ action: 'sts:AssumeRole', resource: bootstrapRole(role, stack.region) })),
    );

  it.each<[string, readonly Call[]]>([
    ['Deploy', assuming('deploy', 'file-publishing', 'lookup')],
    ['Read', [...assuming('lookup'), ...madeBy('plan', stacks)]],
    [
      'Operate',
      [
        // `plan --verify` reads the standby's stack, too.
        ...madeBy('outputs', stacks),
        ...madeBy('move-origin', [serving]),
        ...madeBy('smoke', [serving]),
      ],
    ],
  ])('%s has exactly the permissions that its commands need', (kind, calls) => {
    expect(calls.filter((call) => !allows(kind, call))).toEqual([]);
    const granted = statementsOf(kind).flatMap(({ Action }) => Action);
    expect(new Set(granted)).toEqual(new Set(calls.map(({ action }) => action)));
  });

  it.each<[string, string, string, Readonly<Record<string, string>>?]>([
    ['Deploy', 'sts:AssumeRole', bootstrapRole('cfn-exec', region)],
    ['Deploy', 'sts:AssumeRole', bootstrapRole('deploy', 'us-east-1')],
    ['Read', 'sts:AssumeRole', bootstrapRole('deploy', region)],
    ['Read', 'cloudformation:CreateChangeSet', arn('cloudformation', region, `stack/${stackId}/0123`), {}],
    ['Read', 'cloudformation:CreateChangeSet', arn('cloudformation', region, 'stack/Another/0123')],
    ['Read', 's3:PutObject', `${bucket(region)}/0123.json`],
    ['Read', 'ssm:GetParameters', arn('ssm', region, 'parameter/another')],
    ['Operate', 'ssm:GetParameters', arn('ssm', standby.region, 'parameter/cdk-bootstrap/hnb659fds/version')],
    ['Operate', 'ssm:GetParameters', arn('ssm', region, 'parameter/another')],
    [
      'Operate',
      'cloudformation:UpdateStack',
      arn('cloudformation', standby.region, `stack/${standby.stackId}/0123`),
    ],
    ['Operate', 'ec2:DescribeSubnets', '*', { 'aws:RequestedRegion': standby.region }],
    ['Operate', 'sqs:SendMessage', arn('sqs', region, named('WebhookDeliveryQueueUrl'))],
    ['Operate', 'sqs:SendMessage', arn('sqs', region, named('WebhookEventsDeadLetterQueueUrl'))],
    ['Operate', 'lambda:InvokeFunction', arn('lambda', region, 'function:Another-RunOperation0123-ABC')],
    ['Operate', 'kms:Sign', arn('kms', region, 'key/0123'), { 'aws:ResourceTag/service': 'another' }],
  ])('%s may not call %s on %s', (kind, action, resource, ...[given = planned]) => {
    expect(allows(kind, { action, resource, given })).toBe(false);
  });
});

it.each<[string, Record<string, string>, string]>([
  ['no repository', { repository: '' }, 'repository is "". Give it as: -c repository=owner/name'],
  ['every repository of an owner', { repository: 'owner/*' }, 'repository is "owner/*"'],
  ['another claim beside the repository', { repository: 'owner/name:ref' }, 'repository is "owner/name:ref"'],
  ['an unknown environment', { environments: `${name},nowhere` }, 'environments names "nowhere"'],
  ['no amount', { budget: '0' }, 'budget is "0"'],
  ['no address', { email: 'me' }, 'email is "me"'],
  ['an unknown region', { region: 'eu-central-9' }, 'region is "eu-central-9". Use an AWS region'],
  ['a region without budgets', { region: 'me-central-1' }, 'where CloudFormation has no budgets'],
])('refuses %s', (_, changes, message) => {
  expect(() => settingsOf(changes)).toThrow(message);
});

it('refuses several environments in one account without the acknowledgement', () => {
  const both = { environments: environments.map((row) => row.name).join(','), region: 'eu-central-1' };
  expect(() => settingsOf(both)).toThrow(
    'who may deploy one of them may replace or delete the others. Give each an account of its own, or accept that: -c environments-may-replace-each-other=true',
  );
  const accepted = settingsOf({ ...both, 'environments-may-replace-each-other': 'true' });
  expect(accepted.environments).toEqual(environments);
});
