import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { AccountStack } from '../../lib/account/account-stack';
import { planFolder, planPrefix } from '../../lib/account/names';
import { readAccountSettings } from '../../lib/account/settings';
import { commandLineContext } from '../../lib/app';
import { first } from '../support/rows';
import { stackOf, withTemporaryFolder } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

const context = {
  environments: 'eu,uae',
  repository: 'owner/name',
  budget: '500',
  email: 'on-call@example.com',
};
const account = '111122223333';
const pseudo: Readonly<Record<string, string>> = { 'AWS::Partition': 'aws', 'AWS::AccountId': account };

/** The template, its ARNs as in an account. Its checks: test/checks/synthesis.test.ts. */
function synthesize(changes: Readonly<Record<string, string>> = {}): Json {
  const settings: Readonly<Record<string, string>> = { ...context, ...changes };
  const text = withTemporaryFolder((outdir) => {
    const app = new App({ outdir, context: commandLineContext(), builtinCloudFormationValidation: false });
    const { stackName } = new AccountStack(
      app,
      readAccountSettings((name) => settings[name]),
    );
    return readFileSync(app.synth().getStackByName(stackName).templateFullPath, 'utf8');
  });
  // `JSON.parse` revives from the inside: references first, then what joins them.
  return JSON.parse(text, (_, value) => {
    if (typeof value?.Ref === 'string') return pseudo[value.Ref] ?? value;
    return value?.['Fn::Join'] ? value['Fn::Join'][1].join('') : value;
  });
}

const { Resources: resources } = synthesize();
const role = (logicalId: string) => resources[logicalId].Properties;
const statementsOf = (logicalId: string): Json[] =>
  role(logicalId).Policies.flatMap(({ PolicyDocument }: Json) => PolicyDocument.Statement);
const actionsOf = (logicalId: string): string[] => statementsOf(logicalId).flatMap(({ Action }) => Action);
const bootstrapRole = (name: string, region: string) =>
  `arn:aws:iam::${account}:role/cdk-hnb659fds-${name}-role-${account}-${region}`;

it('has the provider, the budget and three roles for each environment, under ids that never change', () => {
  expect(Object.fromEntries(Object.entries<Json>(resources).map(([id, { Type }]) => [id, Type]))).toEqual({
    GithubProvider: 'AWS::IAM::OIDCProvider',
    Budget: 'AWS::Budgets::Budget',
    DeployEuRole: 'AWS::IAM::Role',
    ReadEuRole: 'AWS::IAM::Role',
    OperateEuRole: 'AWS::IAM::Role',
    DeployUaeRole: 'AWS::IAM::Role',
    ReadUaeRole: 'AWS::IAM::Role',
    OperateUaeRole: 'AWS::IAM::Role',
  });
  expect(resources.GithubProvider.Properties).toEqual({
    Url: 'https://token.actions.githubusercontent.com',
    ClientIdList: ['sts.amazonaws.com'],
  });
});

it.each([
  ['DeployEuRole', 'wallet-deploy-eu', 'eu'],
  ['OperateEuRole', 'wallet-operate-eu', 'eu'],
  ['ReadEuRole', 'wallet-read-eu', 'eu-read'],
  ['DeployUaeRole', 'wallet-deploy-uae', 'uae'],
])('%s trusts this repository in one GitHub environment, and nobody else', (logicalId, name, environment) => {
  expect(role(logicalId)).toMatchObject({ RoleName: name, MaxSessionDuration: 7200 });
  expect(role(logicalId).AssumeRolePolicyDocument.Statement).toEqual([
    {
      Effect: 'Allow',
      Action: 'sts:AssumeRoleWithWebIdentity',
      Principal: { Federated: { Ref: 'GithubProvider' } },
      Condition: {
        StringEquals: {
          'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
          'token.actions.githubusercontent.com:sub': `repo:owner/name:environment:${environment}`,
        },
      },
    },
  ]);
});

it('trusts immutable subjects, and a provider that the account has already', () => {
  const adopted = synthesize({ repository: 'owner@12/name@34', 'adopt-provider': 'true' }).Resources;
  expect(adopted.GithubProvider).toBeUndefined();
  const [statement] = adopted.DeployEuRole.Properties.AssumeRolePolicyDocument.Statement;
  expect(statement.Principal.Federated).toBe(
    `arn:aws:iam::${account}:oidc-provider/token.actions.githubusercontent.com`,
  );
  expect(statement.Condition.StringEquals['token.actions.githubusercontent.com:sub']).toBe(
    'repo:owner@12/name@34:environment:eu',
  );
});

it("deploys by the CDK's roles of the environment's regions, and may do nothing else", () => {
  expect(statementsOf('DeployEuRole')).toEqual([
    {
      Effect: 'Allow',
      Action: 'sts:AssumeRole',
      Resource: ['deploy', 'file-publishing', 'lookup'].flatMap((name) =>
        ['eu-central-1', 'eu-west-1'].map((region) => bootstrapRole(name, region)),
      ),
    },
  ]);
  expect(statementsOf('DeployUaeRole')[0].Resource).toEqual(
    ['deploy', 'file-publishing', 'lookup'].map((name) => bootstrapRole(name, 'me-central-1')),
  );
});

it('plans without a way to change anything: no change set is executed, no file of a deployment written', () => {
  expect(actionsOf('ReadEuRole').sort()).toEqual([
    'cloudformation:CreateChangeSet',
    'cloudformation:DeleteChangeSet',
    'cloudformation:DescribeChangeSet',
    'cloudformation:DescribeStacks',
    's3:DeleteObject',
    's3:GetObject',
    's3:PutObject',
    'ssm:GetParameters',
    'sts:AssumeRole',
  ]);
  const of = (action: string) =>
    statementsOf('ReadEuRole').find(({ Action }) => [Action].flat().includes(action));
  expect(of('sts:AssumeRole').Resource).toEqual(
    ['eu-central-1', 'eu-west-1'].map((region) => bootstrapRole('lookup', region)),
  );
  expect(of('cloudformation:CreateChangeSet')).toMatchObject({
    Resource: [
      `arn:aws:cloudformation:eu-central-1:${account}:stack/WalletEu/*`,
      `arn:aws:cloudformation:eu-west-1:${account}:stack/WalletEuStandby/*`,
    ],
    Condition: { StringLike: { 'cloudformation:ChangeSetName': `${planPrefix}*` } },
  });
  // The CDK's files are at the bucket's root.
  for (const resource of of('s3:PutObject').Resource) {
    expect(resource).toMatch(
      new RegExp(`^arn:aws:s3:::cdk-hnb659fds-assets-${account}-[a-z0-9-]+/${planFolder}/\\*$`),
    );
  }
});

it('names every resource of one environment, and * for what has none alone', () => {
  const roles = Object.keys(resources).filter((logicalId) => logicalId.endsWith('Role'));
  const open = roles.flatMap((logicalId) =>
    statementsOf(logicalId).filter(({ Resource }) => [Resource].flat().includes('*')),
  );
  expect(open.map(({ Action }) => Action)).toEqual(
    Array(2).fill(['ec2:DescribeAddresses', 'ec2:DescribeNatGateways', 'ec2:DescribeSubnets']),
  );
  expect(open.map(({ Condition }) => Condition.StringEquals['aws:RequestedRegion'])).toEqual([
    'eu-central-1',
    'me-central-1',
  ]);
  const named = roles.flatMap((logicalId) => actionsOf(logicalId));
  expect(named.filter((action) => action.includes('*') || action.startsWith('iam:'))).toEqual([]);
});

it('operates what the stacks have: function, queue and keys by the names and tags that they get', () => {
  const template = stackOf(first).json;
  const of = (action: string) =>
    statementsOf('OperateEuRole').find(({ Action }) => [Action].flat().includes(action));
  // CloudFormation puts stack, logical id and letters of its own together.
  const covers = (pattern: string, name: string) =>
    name.startsWith(pattern.split(':').at(-1)?.replace('*', '') ?? 'none');
  const nameOf = (output: string) => `${first.stackId}-${template.Outputs[output].Value.Ref}-ABC`;
  expect(covers(of('lambda:InvokeFunction').Resource, nameOf('OperationsFunctionName'))).toBe(true);
  expect(covers(of('sqs:SendMessage').Resource, nameOf('WebhookEventsQueueUrl'))).toBe(true);
  for (const output of ['WebhookEventsDeadLetterQueueUrl', 'WebhookDeliveryQueueUrl'])
    expect(covers(of('sqs:SendMessage').Resource, nameOf(output))).toBe(false);

  const wanted = Object.entries(of('kms:Sign').Condition.StringEquals).map(([key, Value]) => ({
    Key: key.replace('aws:ResourceTag/', ''),
    Value,
  }));
  for (const output of ['TokenSigningKeyArn', 'UserActionSigningKeyArn', 'WebhookSecretsKeyArn']) {
    const key = template.Resources[template.Outputs[output].Value['Fn::GetAtt'][0]];
    expect(key.Properties.Tags).toEqual(expect.arrayContaining(wanted));
  }
});

it('deletes no gateway but the one that CloudFormation made for the stack', () => {
  const { Resource, Condition } = statementsOf('OperateEuRole').find(
    ({ Action }) => Action === 'ec2:DeleteNatGateway',
  );
  expect(JSON.stringify(Resource)).toContain(`:ec2:${first.region}:`);
  const [logicalId] = Object.entries<Json>(stackOf(first).json.Resources).find(
    ([, { Type }]) => Type === 'AWS::EC2::NatGateway',
  ) ?? [''];
  expect(Condition).toEqual({
    StringEquals: {
      'aws:ResourceTag/aws:cloudformation:stack-name': first.stackId,
      'aws:ResourceTag/aws:cloudformation:logical-id': logicalId,
    },
  });
});

it('tells by mail when the budget is nearly spent, and when it will be', () => {
  const { Budget: spending, NotificationsWithSubscribers: told } = resources.Budget.Properties;
  expect(spending.BudgetLimit).toEqual({ Amount: 500, Unit: 'USD' });
  expect(
    told.map(({ Notification: { NotificationType: type, Threshold } }: Json) => [type, Threshold]),
  ).toEqual([
    ['ACTUAL', 80],
    ['FORECASTED', 100],
  ]);
  expect(told.flatMap(({ Subscribers }: Json) => Subscribers.map(({ Address }: Json) => Address))).toEqual(
    Array(2).fill(context.email),
  );
});

it.each<[string, Record<string, string>, string]>([
  ['no repository', { repository: '' }, 'repository is "". Give it as: -c repository=owner/name'],
  ['every repository of an owner', { repository: 'owner/*' }, 'repository is "owner/*"'],
  ['another claim beside the repository', { repository: 'owner/name:ref' }, 'repository is "owner/name:ref"'],
  ['an unknown environment', { environments: 'eu,nowhere' }, 'environments names "nowhere"'],
  ['no amount', { budget: '0' }, 'budget is "0"'],
  ['no address', { email: 'me' }, 'email is "me"'],
  ['a region that there is not', { region: 'eu-central-9' }, 'region is "eu-central-9". Use an AWS region'],
  [
    'a region without budgets',
    { environments: 'uae' },
    'region is me-central-1, where CloudFormation has no budgets',
  ],
])('refuses %s', (_, changes, message) => {
  expect(() => synthesize(changes)).toThrow(message);
});

it('keeps the stack of an environment of such a region elsewhere', () => {
  const { Resources: elsewhere } = synthesize({ environments: 'uae', region: 'eu-central-1' });
  expect(elsewhere.DeployUaeRole.Properties.Policies[0].PolicyDocument.Statement[0].Resource).toEqual(
    ['deploy', 'file-publishing', 'lookup'].map((name) => bootstrapRole(name, 'me-central-1')),
  );
});
