import { type Call, createPermissions } from '../../../../local/aws/iam/permissions';

const role = 'arn:aws:iam::000000000000:role/Deliver';
const key = 'arn:aws:kms:eu-central-1:000000000000:key/1';
const queue = 'arn:aws:sqs:eu-central-1:000000000000:queue';
const account = { Principal: { AWS: 'arn:aws:iam::000000000000:root' } };
const toAll = (statement: object) => ({ ...statement, Principal: '*' });
const onlyRole = { Principal: { AWS: role } };
const allow = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: queue };
const deny = { ...allow, Effect: 'Deny' };

/** Statements of the policies of a function's role, of a queue and of a key. */
type Policies = Partial<Record<'role' | 'queue' | 'key', unknown>>;
type Asked = Pick<Call, 'action' | 'resource' | 'context'>;

function decide(policies: Policies, asked: Asked): string {
  const { addFunction, attachToRole, attachToResource, authorize } = createPermissions();
  addFunction('KEY', role);
  attachToRole(role, { Version: '2012-10-17', Statement: policies.role ?? [] }, 'Role');
  attachToResource(queue, { Statement: policies.queue ?? [] }, 'Queue');
  attachToResource(key, { Statement: policies.key ?? [] }, 'Key');
  return authorize({ accessKeyId: 'KEY', ...asked }) ?? 'allowed';
}

const send = { action: 'sqs:SendMessage', resource: queue };
const sign = { action: 'kms:Sign', resource: key };
const maySign = { Effect: 'Allow', Action: 'kms:Sign', Resource: key };
const mayNotSign = { ...maySign, Effect: 'Deny' };
const ofAccount = { Effect: 'Allow', Action: 'kms:*', Resource: '*', ...account };
const patterns = { ...allow, Action: ['x', 'SQS:send*'], Resource: ['arn:x', '*:queu?'] };
const via = { ...allow, Condition: { StringEquals: { 'kms:ViaService': 'secretsmanager' } } };
const calledVia = (name: string) => ({ ...send, context: { 'kms:viaservice': name } });
const unencrypted = { ...toAll(deny), Condition: { Bool: { 'aws:SecureTransport': false } } };
const functionArn = (name: string) => `arn:aws:lambda:eu-central-1:000000000000:function:${name}`;
const fromWallet = { ArnLike: { 'lambda:SourceFunctionArn': functionArn('Wallet-*') } };
const denyFrom = { Effect: 'Deny', Action: '*', Resource: '*', Condition: fromWallet };
const sentFrom = (name: string) => ({ ...send, context: { 'lambda:sourcefunctionarn': functionArn(name) } });

const explicit = 'with an explicit deny';
const noIdentity = 'because no identity-based policy allows the';
const noResource = 'because no resource-based policy allows the';

it.each<[what: string, policies: Policies, asked: Asked, outcome: string]>([
  ['a wildcard covers it, in any case', { role: patterns }, send, 'allowed'],
  ['another action is allowed', { role: allow }, { ...send, action: 'sqs:DeleteMessage' }, noIdentity],
  ['it is allowed on another resource', { role: allow }, { ...send, resource: `${queue}2` }, noIdentity],
  ['the resource allows its role', { queue: { ...allow, ...onlyRole } }, send, 'allowed'],
  ['the key delegates to the account', { role: maySign, key: ofAccount }, sign, 'allowed'],
  ['the key delegates to an account without a policy for it', { key: ofAccount }, sign, noIdentity],
  ['a condition is met', { role: via }, calledVia('secretsmanager'), 'allowed'],
  ['a condition is not met', { role: via }, calledVia('rds'), noIdentity],
  ['a condition is on a key that the request lacks', { role: via }, send, noIdentity],
  ['its role denies it', { role: deny, queue: toAll(allow) }, send, explicit],
  ['a pattern denies it', { role: [allow, denyFrom] }, sentFrom('Wallet-x'), explicit],
  ['a pattern denies it to others', { role: [allow, denyFrom] }, sentFrom('Other'), 'allowed'],
  ['the resource denies its role', { role: allow, queue: { ...deny, ...onlyRole } }, send, explicit],
  ['the key denies it', { role: maySign, key: [ofAccount, toAll(mayNotSign)] }, sign, explicit],
  ['the resource denies it without TLS', { role: allow, queue: unencrypted }, send, 'allowed'],
])('a function calls a service, and %s', (_, policies, asked, outcome) => {
  const what = `${asked.action} on resource: ${asked.resource}`;
  const denial = `User: ${role} is not authorized to perform: ${what} ${outcome}`;
  expect(decide(policies, asked)).toContain(outcome === 'allowed' ? outcome : denial);
});

it('a service invokes a function only for the resource that a permission names', () => {
  const { attachToResource, authorizeService } = createPermissions();
  const Condition = { ArnLike: { 'aws:SourceArn': functionArn('x') } };
  const Principal = { Service: 'events.amazonaws.com' };
  const Statement = { ...allow, Principal, Action: 'lambda:InvokeFunction', Condition };
  attachToResource(queue, { Statement }, 'Permission');
  const invokeFor = (name: string) => authorizeService('events.amazonaws.com', queue, functionArn(name));
  expect(invokeFor('x')).toBeUndefined();
  expect(invokeFor('y')).toContain(noResource);
});

it.each<[what: string, statement: object]>([
  ['the element NotAction', { Effect: 'Allow', NotAction: 'sqs:*', Resource: '*' }],
  ['the principal Federated', { ...allow, Principal: { Federated: 'x' } }],
  // Another condition operator: test/local/start.test.ts.
  ['the condition key aws:SourceIp', { ...allow, Condition: { StringEquals: { 'aws:SourceIp': '1' } } }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a policy variable
  ['the value "arn:${aws:userid}"', { ...allow, Resource: 'arn:${aws:userid}' }],
])('refuses a policy with %s', (what, statement) => {
  const attach = () => createPermissions().attachToRole(role, { Statement: [allow, statement] }, 'Policy P');
  expect(attach).toThrow(`Policy P: ${what} is not supported on this machine.`);
});
