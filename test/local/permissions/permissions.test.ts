import { createPermissions } from '../../../local/permissions/permissions';

const role = 'arn:aws:iam::000000000000:role/Deliver';
const key = 'arn:aws:kms:eu-central-1:000000000000:key/1';
const queue = 'arn:aws:sqs:eu-central-1:000000000000:queue';
const account = { AWS: 'arn:aws:iam::000000000000:root' };
const everyone = { Principal: '*' };
const allow = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: queue };

interface Policies {
  readonly role?: object;
  readonly queue?: object;
  readonly key?: object;
}

interface Asked {
  readonly action: string;
  readonly resource: string;
  readonly context?: Record<string, string>;
}

function decide(policies: Policies, asked: Asked): string {
  const permissions = createPermissions();
  permissions.addFunction({ accessKeyId: 'KEY', secretAccessKey: '' }, { roleArn: role, name: 'deliver' });
  if (policies.role)
    permissions.attachToRole(role, { Version: '2012-10-17', Statement: [policies.role] }, 'Role');
  if (policies.queue) permissions.attachToResource(queue, { Statement: policies.queue }, 'Queue');
  if (policies.key) permissions.attachToResource(key, { Statement: policies.key }, 'Key');
  return permissions.authorize({ accessKeyId: 'KEY', ...asked }) ?? 'allowed';
}

const send = { action: 'sqs:SendMessage', resource: queue };
const sign = { action: 'kms:Sign', resource: key };
const mine = { Effect: 'Allow', Action: 'kms:*', Resource: '*', Principal: account };
const maySign = { Effect: 'Allow', Action: 'kms:Sign', Resource: key };
const service = 'secretsmanager.eu-central-1.amazonaws.com';
const via = { ...allow, Condition: { StringEquals: { 'kms:ViaService': service } } };
const deny = { ...allow, ...everyone, Effect: 'Deny' };
const unencrypted = { ...deny, Condition: { Bool: { 'aws:SecureTransport': false } } };
const patterns = { ...allow, Action: ['x', 'SQS:send*'], Resource: ['arn:x', '*:queu?'] };
const from = { 'lambda:SourceFunctionArn': 'arn:aws:lambda:*:*:function:Wallet-*' };
const denyFrom = { Effect: 'Deny', Action: '*', Resource: '*', Condition: { ArnLike: from } };
const sentFrom = (name: string) => ({
  ...send,
  context: { 'lambda:sourcefunctionarn': `arn:aws:lambda:eu-central-1:000000000000:function:${name}` },
});

it.each<[what: string, policies: Policies, asked: Asked]>([
  ['what its role allows', { role: allow }, send],
  ['what wildcards cover, actions in any case', { role: patterns }, send],
  ['what the resource allows to its role alone', { queue: { ...allow, Principal: { AWS: role } } }, send],
  ['use a key that leaves it to the account, when its role allows it', { role: maySign, key: mine }, sign],
  ['what a condition admits', { role: via }, { ...send, context: { 'kms:viaservice': service } }],
  ['send over TLS what a policy denies without', { role: allow, queue: unencrypted }, send],
  [
    'what a denial of others does not cover',
    { role: denyFrom, queue: { ...allow, ...everyone } },
    sentFrom('Other'),
  ],
])('a function may %s', (_, policies, asked) => {
  expect(decide(policies, asked)).toBe('allowed');
});

const explicit = 'with an explicit deny';
const noIdentity = 'because no identity-based policy allows the';
const noResource = 'because no resource-based policy allows the';

it.each<[what: string, policies: Policies, asked: Asked, reason: string]>([
  ['what no policy allows', {}, send, noIdentity],
  ['another action', { role: allow }, { ...send, action: 'sqs:DeleteMessage' }, noIdentity],
  ['the same to another resource', { role: allow }, { ...send, resource: `${queue}2` }, noIdentity],
  [
    "what its role's policy denies",
    { role: { ...allow, Effect: 'Deny' }, queue: { ...allow, ...everyone } },
    send,
    explicit,
  ],
  ["what the resource's policy denies", { role: allow, queue: deny }, send, explicit],
  [
    'what a denial covers by a pattern',
    { role: denyFrom, queue: { ...allow, ...everyone } },
    sentFrom('Wallet-x'),
    explicit,
  ],
  [
    'use a key whose policy does not know its account',
    { role: maySign, key: { ...mine, Principal: { AWS: 'arn:aws:iam::111111111111:root' } } },
    sign,
    noResource,
  ],
  ['use a key that leaves it to an account whose policies are silent', { key: mine }, sign, noIdentity],
  [
    'what the resource allows to a service',
    { queue: { ...allow, Principal: { Service: 'events.amazonaws.com' } } },
    send,
    noIdentity,
  ],
  [
    'what a condition does not admit',
    { role: via },
    { ...send, context: { 'kms:viaservice': 'rds.eu-central-1.amazonaws.com' } },
    noIdentity,
  ],
  ['what a condition asks for that the request lacks', { role: via }, send, noIdentity],
])('a function may not %s', (_, policies, asked, reason) => {
  const { action, resource } = asked;
  expect(decide(policies, asked)).toContain(
    `User: ${role} is not authorized to perform: ${action} on resource: ${resource} ${reason}`,
  );
});

it('leaves an administrator alone', () => {
  expect(createPermissions().authorize({ accessKeyId: 'local', ...send })).toBeUndefined();
});

it('knows what was asked, and what would be refused without a grant', async () => {
  const { attachToRole, authorizeRole, accesses } = createPermissions();
  attachToRole(role, { Statement: { ...allow, Action: ['sqs:SendMessage', 'sqs:DeleteMessage'] } }, 'Role');
  authorizeRole(role, 'sqs:SendMessage', queue);
  authorizeRole(role, 'sqs:SendMessage', queue);
  expect(accesses.made()).toHaveLength(1);
  expect(accesses.refusals()).toEqual([]);
  const [used, idle] = accesses.grants();
  expect([used, idle].map((grant) => accesses.refusals(grant).length)).toEqual([1, 0]);
  const missed = accesses.withhold(used);
  expect(authorizeRole(role, 'sqs:SendMessage', queue)).toContain('not authorized');
  await missed;
  void accesses.withhold(undefined);
  expect(authorizeRole(role, 'sqs:SendMessage', queue)).toBeUndefined();
});

it.each<[what: string, statement: object]>([
  ['the element NotAction', { Effect: 'Allow', NotAction: 'sqs:*', Resource: '*' }],
  ['the element NotResource', { Effect: 'Deny', Action: '*', NotResource: queue }],
  ['the element NotPrincipal', { ...allow, NotPrincipal: account }],
  ['the effect Maybe', { ...allow, Effect: 'Maybe' }],
  ['the principal Federated', { ...allow, Principal: { Federated: 'x' } }],
  ['the condition operator NotEquals', { ...allow, Condition: { NotEquals: { 'aws:SourceAccount': '1' } } }],
  ['the condition key aws:SourceIp', { ...allow, Condition: { StringEquals: { 'aws:SourceIp': '1' } } }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a policy variable
  ['the value "arn:${aws:userid}"', { ...allow, Resource: 'arn:${aws:userid}' }],
])('%s is refused when the policy is read, and allows nothing', (what, statement) => {
  const attach = () => createPermissions().attachToRole(role, { Statement: [allow, statement] }, 'Policy P');
  expect(attach).toThrow(`Policy P: ${what} is not supported on this machine.`);
});
