import { createAccessControl } from '../../../local/iam/access';

const role = 'arn:aws:iam::000000000000:role/Deliver';
const key = 'arn:aws:kms:eu-central-1:000000000000:key/1';
const queue = 'arn:aws:sqs:eu-central-1:000000000000:queue';
const account = { AWS: 'arn:aws:iam::000000000000:root' };
const allow = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: queue };

interface Policies {
  readonly role?: object;
  readonly resource?: readonly [arn: string, statement: object];
}

function decide(
  { role: statement, resource }: Policies,
  call: { action: string; resource: string; context?: Record<string, string> },
): string {
  const access = createAccessControl();
  access.addFunction({ accessKeyId: 'KEY', secretAccessKey: '' }, { roleArn: role, name: 'deliver' });
  if (statement) access.attachToRole(role, { Version: '2012-10-17', Statement: [statement] }, 'Role');
  if (resource) access.attachToResource(resource[0], { Statement: resource[1] }, 'Resource');
  return access.authorize({ accessKeyId: 'KEY', ...call }) ?? 'allowed';
}

const send = { action: 'sqs:SendMessage', resource: queue };
const sign = { action: 'kms:Sign', resource: key };
const mine = { Effect: 'Allow', Action: 'kms:*', Resource: '*', Principal: account };
const via = { StringEquals: { 'kms:ViaService': 'secretsmanager.eu-central-1.amazonaws.com' } };
const insecure = { Effect: 'Deny', Action: 'sqs:*', Resource: queue, Principal: { AWS: '*' } };

describe('a function may', () => {
  it.each<[string, Policies, Parameters<typeof decide>[1]]>([
    ['what its role allows', { role: allow }, send],
    ['what a wildcard covers, in any case', { role: { ...allow, Action: 'SQS:send*', Resource: '*' } }, send],
    [
      'what one of several actions and resources is',
      { role: { ...allow, Action: ['sqs:X', 'sqs:SendMessage'], Resource: ['arn:x', queue] } },
      send,
    ],
    [
      'what the resource allows to its role alone',
      { resource: [queue, { ...allow, Principal: { AWS: role } }] },
      send,
    ],
    [
      'use a key that leaves it to the account, when its role allows it',
      { role: { Effect: 'Allow', Action: 'kms:Sign', Resource: key }, resource: [key, mine] },
      sign,
    ],
    [
      'what a condition of the request admits',
      { role: { ...allow, Condition: via } },
      { ...send, context: { 'kms:viaservice': via.StringEquals['kms:ViaService'] } },
    ],
    [
      'send over TLS what a policy denies without',
      {
        role: allow,
        resource: [queue, { ...insecure, Condition: { Bool: { 'aws:SecureTransport': false } } }],
      },
      send,
    ],
  ])('%s', (_, policies, call) => {
    expect(decide(policies, call)).toBe('allowed');
  });
});

describe('a function may not', () => {
  const refusal = (reason: string) =>
    `User: arn:aws:sts::000000000000:assumed-role/Deliver/deliver is not authorized to perform: ${reason}`;
  const noIdentity = 'because no identity-based policy allows the';

  it.each<[string, Policies, Parameters<typeof decide>[1], string]>([
    [
      'what no policy allows',
      {},
      send,
      `sqs:SendMessage on resource: ${queue} ${noIdentity} sqs:SendMessage action`,
    ],
    [
      'another action',
      { role: allow },
      { ...send, action: 'sqs:DeleteMessage' },
      `sqs:DeleteMessage on resource: ${queue} ${noIdentity} sqs:DeleteMessage action`,
    ],
    [
      'the same to another resource',
      { role: allow },
      { ...send, resource: `${queue}2` },
      `sqs:SendMessage on resource: ${queue}2 ${noIdentity} sqs:SendMessage action`,
    ],
    [
      'what one policy denies and another allows',
      { role: { ...allow, Effect: 'Deny' }, resource: [queue, { ...allow, Principal: '*' }] },
      send,
      `sqs:SendMessage on resource: ${queue} with an explicit deny`,
    ],
    [
      'use a key whose policy does not know its account',
      {
        role: { Effect: 'Allow', Action: 'kms:Sign', Resource: key },
        resource: [key, { ...mine, Principal: { AWS: 'arn:aws:iam::111111111111:root' } }],
      },
      sign,
      `kms:Sign on resource: ${key} because no resource-based policy allows the kms:Sign action`,
    ],
    [
      'use a key that leaves it to an account whose policies are silent',
      { resource: [key, mine] },
      sign,
      `kms:Sign on resource: ${key} ${noIdentity} kms:Sign action`,
    ],
    [
      'what the resource allows to a service',
      { resource: [queue, { ...allow, Principal: { Service: 'events.amazonaws.com' } }] },
      send,
      `sqs:SendMessage on resource: ${queue} ${noIdentity} sqs:SendMessage action`,
    ],
    [
      'what a condition does not admit',
      { role: { ...allow, Condition: via } },
      { ...send, context: { 'kms:viaservice': 'rds.eu-central-1.amazonaws.com' } },
      `sqs:SendMessage on resource: ${queue} ${noIdentity} sqs:SendMessage action`,
    ],
    [
      'what a condition asks for that the request lacks',
      { role: { ...allow, Condition: via } },
      send,
      `sqs:SendMessage on resource: ${queue} ${noIdentity} sqs:SendMessage action`,
    ],
  ])('%s', (_, policies, call, reason) => {
    expect(decide(policies, call)).toBe(refusal(reason));
  });
});

it('denies what an ArnLike pattern covers', () => {
  const denied = {
    Effect: 'Deny',
    Action: '*',
    Resource: '*',
    Condition: { ArnLike: { 'lambda:SourceFunctionArn': 'arn:aws:lambda:*:*:function:Wallet-*' } },
  };
  const from = (arn: string) =>
    decide(
      { role: denied, resource: [queue, { ...allow, Principal: '*' }] },
      { ...send, context: { 'lambda:sourcefunctionarn': arn } },
    );
  expect(from('arn:aws:lambda:eu-central-1:000000000000:function:Wallet-x')).toContain('explicit deny');
  expect(from('arn:aws:lambda:eu-central-1:000000000000:function:Other-x')).toBe('allowed');
});

it('leaves an administrator alone', () => {
  expect(createAccessControl().authorize({ accessKeyId: 'local', ...send })).toBeUndefined();
});

it.each<[what: string, statement: object]>([
  ['the element NotAction', { Effect: 'Allow', NotAction: 'sqs:*', Resource: '*' }],
  ['the element NotResource', { Effect: 'Deny', Action: '*', NotResource: queue }],
  ['the element NotPrincipal', { ...allow, NotPrincipal: account }],
  ['the effect Maybe', { ...allow, Effect: 'Maybe' }],
  ['the principal Federated', { ...allow, Principal: { Federated: 'x' } }],
  [
    'the condition operator StringNotEquals',
    { ...allow, Condition: { StringNotEquals: { 'aws:SourceAccount': '1' } } },
  ],
  [
    'the condition operator StringEqualsIfExists',
    { ...allow, Condition: { StringEqualsIfExists: { 'aws:SourceAccount': '1' } } },
  ],
  ['the condition key aws:SourceIp', { ...allow, Condition: { StringEquals: { 'aws:SourceIp': '1' } } }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a policy variable
  ['the policy variable in arn:${aws:userid}', { ...allow, Resource: 'arn:${aws:userid}' }],
])('%s is refused when the policy is read, and allows nothing', (what, statement) => {
  const access = createAccessControl();
  const attach = () => access.attachToRole(role, { Statement: [allow, statement] }, 'Policy P');
  expect(attach).toThrow(`Policy P, statement 2: ${what} is not known on this machine.`);
});
