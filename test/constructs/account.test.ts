import { App } from 'aws-cdk-lib';
import { AccountStack } from '../../lib/account/account-stack';
import { readAccountSettings } from '../../lib/account/settings';
import { type Environment, inForce } from '../../lib/environment/schema';
import { GuardrailsStack } from '../../lib/guardrails/guardrails-app';
import { workflows } from '../ci/workspace';
import { statementsFor } from '../support/policy-evaluator';
import { withStandby } from '../support/rows';
import { type Json, stackOf, withApp } from '../support/stacks';
import { environments } from '../support/table';
import { permissionsOf } from './documented-permissions';

const account = '111122223333';
const { name, stackId, region, standby } = withStandby;
const context: Readonly<Record<string, string>> = {
  environments: name,
  repository: 'owner/name',
};

const settingsOf = (changes: Readonly<Record<string, string>>) =>
  readAccountSettings((key) => ({ ...context, ...changes })[key]);

/** The template's resources, their ARNs as in an account. Its checks: test/tools/synthesis.tool.ts. */
function synthesize(changes: Readonly<Record<string, string>> = {}): Json {
  const template = withApp((app) => {
    new AccountStack(app, settingsOf(changes));
    return app.synth().getStackByName(AccountStack.stackId).template;
  });
  // `JSON.parse` revives from the inside: references first, then what joins them.
  return JSON.parse(JSON.stringify(template), (_, value) => {
    if (value?.Ref === 'AWS::Partition') return 'aws';
    if (value?.Ref === 'AWS::AccountId') return account;
    return value?.['Fn::Join'] ? value['Fn::Join'][1].join('') : value;
  }).Resources;
}

const resources = synthesize();
const title = name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
const roleOf = (kind: string, of = resources): Json => of[`${kind}${title}Role`].Properties;

const issuer = 'token.actions.githubusercontent.com';
const workflow = (file: string) => `owner/name/.github/workflows/${file}.yml@refs/heads/main`;

it.each([
  ['Deploy', [name], ['deploy']],
  ['Operate', [name, `${name}-operate`], ['deploy', 'move-origin', 'smoke']],
  ['Read', [`${name}-read`], ['deploy', 'move-origin', 'origin-status']],
  ['Drift', [`${name}-read`], ['drift']],
])(
  'the role %s trusts, on main, the GitHub environments %j of the workflows %j, and nobody else',
  (kind, trusted, files) => {
    const { RoleName, MaxSessionDuration, AssumeRolePolicyDocument } = roleOf(kind);
    // The workflows assume it by this name, and have steps of two and a half hours.
    expect([RoleName, MaxSessionDuration]).toEqual([`wallet-${kind.toLowerCase()}-${name}`, 150 * 60]);
    expect(AssumeRolePolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRoleWithWebIdentity',
        Principal: { Federated: { Ref: 'GithubProvider' } },
        Condition: {
          StringEquals: {
            [`${issuer}:aud`]: 'sts.amazonaws.com',
            [`${issuer}:sub`]: trusted.map((each) => `repo:owner/name:environment:${each}`),
            [`${issuer}:ref`]: 'refs/heads/main',
            [`${issuer}:job_workflow_ref`]: files.map(workflow),
          },
        },
      },
    ]);
  },
);

it('only the role Operate trusts people, those with the permission set of the setting "operators"', () => {
  const forPeople = synthesize({ operators: 'OnCall' });
  const trustOf = (kind: string) => roleOf(kind, forPeople).AssumeRolePolicyDocument.Statement;
  for (const kind of ['Deploy', 'Read', 'Drift']) expect(trustOf(kind)).toHaveLength(1);
  const reserved = `arn:aws:iam::${account}:role/aws-reserved/sso.amazonaws.com`;
  expect(trustOf('Operate')[1]).toEqual({
    Effect: 'Allow',
    Action: 'sts:AssumeRole',
    Principal: { AWS: `arn:aws:iam::${account}:root` },
    Condition: { ArnLike: { 'aws:PrincipalArn': `${reserved}*/AWSReservedSSO_OnCall_????????????????` } },
  });
});

it('trusts tokens that GitHub made for AWS, and is not deleted by mistake', () => {
  expect(resources.GithubProvider.Properties).toMatchObject({
    Url: `https://${issuer}`,
    ClientIdList: ['sts.amazonaws.com'],
  });
  expect(new AccountStack(new App(), settingsOf({})).terminationProtection).toBe(true);
});

it('a promotion changes no role and no guardrail: those of the first day cover both regions', () => {
  const templatesOf = (row: Environment) =>
    withApp((app) => {
      new AccountStack(app, { ...settingsOf({}), environments: [row] });
      new GuardrailsStack(app, {
        environment: row,
        account,
        organization: 'o-abcdefghij',
        actionsOnly: false,
      });
      return app.synth().stacks.map(({ stackName, template }) => ({ stackName, region, template }));
    });
  const serving = inForce({ ...withStandby, standby: { ...standby, serves: true } });
  expect(serving.region).toBe(standby.region);
  expect(templatesOf(serving)).toEqual(templatesOf(withStandby));
});

it('no step of a workflow takes a longer session than a role gives', () => {
  const durations = workflows.flatMap(({ text }) => text.match(/(?<=role-duration-seconds: )\d+/g) ?? []);
  expect(Math.max(...durations.map(Number))).toBe(150 * 60);
});

it('trusts immutable subjects, and an existing provider of the account', () => {
  const adopted = synthesize({ repository: 'owner@12/name@34', 'adopt-provider': 'true' });
  expect(adopted.GithubProvider).toBeUndefined();
  const [trust] = roleOf('Deploy', adopted).AssumeRolePolicyDocument.Statement;
  expect(trust.Principal.Federated).toMatch(/:oidc-provider\/token\.actions\.githubusercontent\.com$/);
  expect(trust.Condition.StringEquals).toMatchObject({
    [`${issuer}:sub`]: [`repo:owner@12/name@34:environment:${name}`],
    [`${issuer}:job_workflow_ref`]: [workflow('deploy')],
  });
});

describe('the permissions of a role', () => {
  const statementsOf = (kind: string): Json[] =>
    roleOf(kind).Policies.flatMap(({ PolicyDocument }: Json) => PolicyDocument.Statement);
  const allows = (Statement: Json, action: string, resource: string, context = {}) =>
    statementsFor({ Version: '2012-10-17', Statement }, { action, resource, context }).length > 0;

  it.each([
    ['Deploy', ['sts:AssumeRole', 'cloudformation:DescribeStacks']],
    ['Drift', ['sts:AssumeRole']],
    ['Read', ['outputs', 'plan', 'preflight', 'origin-status'].flatMap(permissionsOf)],
    ['Operate', ['outputs', 'origin-status', 'move-origin', 'smoke', 'webhook test'].flatMap(permissionsOf)],
  ])('%s has exactly the actions that its commands need', (kind, actions) => {
    expect(new Set(statementsOf(kind).flatMap(({ Action }) => Action))).toEqual(new Set(actions));
  });

  const template = stackOf(withStandby).json;
  const arn = (service: string, place: string, resource: string) =>
    `arn:aws:${service}:${place}:${account}:${resource}`;
  const stackIn = (place: string, name: string) => arn('cloudformation', place, `stack/${name}/0123`);
  const functionNamed = (name: string) => arn('lambda', region, `function:${name}`);
  const bootstrapRole = (role: string, place: string) =>
    arn('iam', '', `role/cdk-hnb659fds-${role}-role-${account}-${place}`);
  const bootstrapVersion = (place: string) => arn('ssm', place, 'parameter/cdk-bootstrap/hnb659fds/version');
  const bucket = (place: string) => `arn:aws:s3:::cdk-hnb659fds-assets-${account}-${place}`;
  /** CloudFormation joins stack name, logical id and random letters. */
  const named = (output: string) => `${stackId}-${template.Outputs[output].Value.Ref}-ABC`;
  const tagsOf = (output: string): Record<string, string> => {
    const [key] = template.Outputs[output].Value['Fn::GetAtt'];
    const tags: Json[] = template.Resources[key].Properties.Tags;
    return Object.fromEntries(tags.map(({ Key, Value }) => [`aws:ResourceTag/${Key}`, Value]));
  };
  type Call = [kind: string, action: string, resource: string, context?: Record<string, string>];
  const plan = { 'cloudformation:ChangeSetName': 'wallet-plan-0123' };
  const inRegion = (place: string) => ({ 'aws:RequestedRegion': place });

  const throughS3 = {
    'kms:ViaService': `s3.${region}.amazonaws.com`,
    'kms:EncryptionContext:aws:s3:arn': `${bucket(region)}/wallet-plan/wallet-plan-0123.json`,
  };

  const permitted: Call[] = [
    ...[region, standby.region].flatMap((place): Call[] => [
      ['Deploy', 'sts:AssumeRole', bootstrapRole('deploy', place)],
      ['Drift', 'sts:AssumeRole', bootstrapRole('lookup', place)],
      ['Read', 'ec2:DescribeAvailabilityZones', '*', inRegion(place)],
      ['Read', 'cloudformation:GetTemplate', stackIn(place, place === region ? stackId : standby.stackId)],
      ['Read', 's3:PutObject', `${bucket(place)}/wallet-plan/wallet-plan-0123.json`],
      ['Read', 'ssm:GetParameters', bootstrapVersion(place)],
      ['Operate', 'ssm:GetParameters', bootstrapVersion(place)],
      ['Operate', 'ec2:DescribeSubnets', '*', inRegion(place)],
      ['Operate', 'cloudformation:UpdateStack', stackIn(place, place === region ? stackId : standby.stackId)],
    ]),
    ['Read', 'cloudformation:CreateChangeSet', stackIn(standby.region, standby.stackId), plan],
    ['Read', 'kms:GenerateDataKey', arn('kms', region, 'key/0123'), throughS3],
    ['Read', 'sqs:GetQueueAttributes', arn('sqs', region, named('WebhookEventsQueueUrl'))],
    ['Operate', 'sqs:SendMessage', arn('sqs', region, named('WebhookEventsQueueUrl'))],
    ['Operate', 'lambda:InvokeFunction', functionNamed(named('OperationsFunctionName'))],
    ...['TokenSigningKeyArn', 'UserActionSigningKeyArn', 'WebhookSecretsKeyArn'].map(
      (key): Call => ['Operate', 'kms:Sign', arn('kms', region, `key/${key}`), tagsOf(key)],
    ),
  ];
  const refused: Call[] = [
    ['Deploy', 'sts:AssumeRole', bootstrapRole('cfn-exec', region)],
    ['Deploy', 'sts:AssumeRole', bootstrapRole('deploy', 'us-east-1')],
    ['Drift', 'sts:AssumeRole', bootstrapRole('deploy', region)],
    ['Read', 'sts:AssumeRole', bootstrapRole('lookup', region)],
    ['Read', 'ec2:DescribeSubnets', '*', inRegion('us-east-1')],
    ['Read', 'sqs:GetQueueAttributes', arn('sqs', region, 'Another-WebhookEventsQueue-ABC')],
    ['Read', 'cloudformation:CreateChangeSet', stackIn(region, stackId)],
    ['Read', 'cloudformation:CreateChangeSet', stackIn(region, 'Another'), plan],
    ['Read', 's3:PutObject', `${bucket(region)}/0123.json`],
    ['Read', 'ssm:GetParameters', arn('ssm', region, 'parameter/another')],
    ...Object.keys(throughS3).map(
      (key): Call => [
        'Read',
        'kms:Decrypt',
        arn('kms', region, 'key/0123'),
        { ...throughS3, [key]: 'another' },
      ],
    ),
    ['Operate', 'cloudformation:UpdateStack', stackIn(standby.region, stackId)],
    ['Operate', 'ec2:DescribeSubnets', '*', inRegion('us-east-1')],
    ...['WebhookRetryQueue', 'WebhookDeliveryDeadLetterQueue'].map(
      (queue): Call => ['Operate', 'sqs:SendMessage', arn('sqs', region, `${stackId}-${queue}-ABC`)],
    ),
    // A forged authorizer's context would delete any group.
    ['Operate', 'lambda:InvokeFunction', functionNamed(`${stackId}-DeleteUserGroup0123-ABC`)],
    ['Operate', 'lambda:InvokeFunction', functionNamed('Another-RunOperation0123-ABC')],
    ...['service', 'environment'].map(
      (tag): Call => [
        ...(['Operate', 'kms:Sign', arn('kms', region, 'key/0123')] as const),
        { ...tagsOf('TokenSigningKeyArn'), [`aws:ResourceTag/${tag}`]: 'another' },
      ],
    ),
  ];
  it('permit calls for their own stacks and no others, with conditions that each refuse one of these', () => {
    const allowed = ([kind, ...call]: Call) => allows(statementsOf(kind), ...call);
    expect(permitted.filter((call) => !allowed(call))).toEqual([]);
    expect(refused.filter(allowed)).toEqual([]);
    const conditions = ['Read', 'Operate'].flatMap(statementsOf).map(({ Condition = {} }) => Condition);
    const keys = conditions.flatMap(Object.values).flatMap(Object.keys);
    expect(keys).toEqual([
      ...['cloudformation:ChangeSetName', 'kms:ViaService', 'kms:EncryptionContext:aws:s3:arn'],
      ...['aws:RequestedRegion', 'aws:RequestedRegion'],
      ...['aws:ResourceTag/service', 'aws:ResourceTag/environment'],
    ]);
  });
});

const every = environments.map((row) => row.name).join(',');

it.each<[string, Record<string, string>, string]>([
  ['every repository of an owner', { repository: 'owner/*' }, 'repository is "owner/*"'],
  ['another claim beside the repository', { repository: 'owner/name:ref' }, 'repository is "owner/name:ref"'],
  ['every permission set', { operators: '*' }, 'operators is "*"'],
  ['an unknown environment', { environments: `${name},nowhere` }, 'environments names "nowhere"'],
  ['several environments', { environments: every }, '-c wallet:environments-may-replace-each-other=true'],
])('refuses %s', (_, changes, message) => {
  expect(() => settingsOf(changes)).toThrow(message);
});

it('accepts several environments in one account with the acknowledgement', () => {
  const accepted = settingsOf({
    environments: every,
    'environments-may-replace-each-other': 'true',
  });
  expect(accepted.environments).toEqual(environments);
});
