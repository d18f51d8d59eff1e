import { AccountStack } from '../../lib/account/account-stack';
import { inForce } from '../../lib/environment/schema';
import { resourceControlPolicy, serviceControlPolicy } from '../../lib/guardrails/policies';
import { permissionsFor } from '../constructs/documented-permissions';
import { account, guarded, requestsOfCall } from '../guardrails/requests';
import { readDocuments } from '../support/documents';
import { type Request, statementsFor } from '../support/policy-evaluator';
import { complete, serving, withStandby } from '../support/rows';
import { type Json, stackOf, withApp } from '../support/stacks';
import { type DocumentedCall, documentedCalls, roles, sectionsIn } from './calls';

const procedures = ['emergencies', 'planned-work'].map((page) => `docs/runbook/${page}.md`);
const sections = readDocuments()
  .filter(({ path }) => procedures.includes(path))
  .flatMap((document) => sectionsIn(document).map((section) => ({ path: document.path, ...section })))
  .filter(({ heading }) => heading !== '');
const calls = documentedCalls();

it.each(sections)('$path, $heading, names the role that does it', ({ role }) => {
  expect(roles).toContain(role);
});

const guardrails = [serviceControlPolicy(guarded(withStandby)), resourceControlPolicy(guarded(withStandby))];
const isDenied = (request: Request) => guardrails.some((policy) => statementsFor(policy, request).length > 0);

it('asks for the break-glass role only for what the guardrails deny to administrators', () => {
  const broken = calls.filter(({ role }) => role === 'break-glass');
  expect(broken.length).toBeGreaterThan(3);
  const needless = broken.filter(
    (call) => !requestsOfCall({ ...call, role: 'administrator' }, withStandby).some(isDenied),
  );
  expect(needless).toEqual([]);
});

/** The roles of the account stack, their ARNs as in an account. */
const template: Json = withApp((app) => {
  const settings = { repository: 'owner/name', operators: 'OnCall', adoptProvider: false };
  new AccountStack(app, { ...settings, environments: [withStandby], region: withStandby.region });
  return app.synth().getStackByName(AccountStack.stackId).template;
});
const references: Readonly<Record<string, string>> = { 'AWS::Partition': 'aws', 'AWS::AccountId': account };
const resources = JSON.parse(JSON.stringify(template.Resources), (_, value) => {
  if (value?.['Fn::Join']) return value['Fn::Join'][1].join('');
  return references[value?.Ref] ?? value;
});
const policyOf = (roleName: string): Json =>
  Object.values<Json>(resources).find(({ Properties }) => Properties.RoleName === roleName).Properties
    .Policies[0].PolicyDocument;

const sides = [complete, serving(complete)].map((row) => ({ row: inForce(row), stack: stackOf(row) }));

/** A resource as docs/operating.md names it, in a stack that serves, with the tags that policies read. */
function resourceIn(
  { row, stack }: (typeof sides)[number],
  { action, resource }: { action: string; resource: string },
) {
  const { region, stackId } = row;
  const [service = ''] = action.split(':');
  const arn = (of: string, name: string) => `arn:aws:${of}:${region}:${account}:${name}`;
  const [, output = ''] = /^`(\w+)`$/.exec(resource) ?? [];
  if (output) {
    const { Value } = stack.json.Outputs[output];
    const { Type, logicalId, Properties } = stack.get(Value.Ref ?? Value['Fn::GetAtt'][0]);
    // CloudFormation joins stack name, logical id and random letters.
    const name = `${stackId}-${logicalId}-ABC`;
    if (Type === 'AWS::Lambda::Function') return { resource: arn('lambda', `function:${name}`) };
    if (Type === 'AWS::SQS::Queue') return { resource: arn('sqs', name) };
    const tags = Properties.Tags.map((tag: Json) => [`aws:ResourceTag/${tag.Key}`, tag.Value]);
    return { resource: arn('kms', 'key/mrk-0123'), context: Object.fromEntries(tags) };
  }
  if (resource === 'the stack') return { resource: arn('cloudformation', `stack/${stackId}/0123`) };
  if (resource.includes('/cdk-bootstrap/'))
    return { resource: arn('ssm', 'parameter/cdk-bootstrap/hnb659fds/version') };
  const named: Readonly<Record<string, string>> = {
    sqs: arn('sqs', `${stackId}-WebhooksQueue-ABC`),
    lambda: arn('lambda', 'event-source-mapping:0123'),
  };
  return { resource: named[service] ?? '*' };
}

const needed = ({ kind, text, actions }: DocumentedCall) =>
  kind === 'wallet' ? permissionsFor(text) : actions.map((action) => ({ action, resource: 'the stack' }));

it.each(sides)('the role of the person on call may do its sections in $row.region', (side) => {
  const { row } = side;
  const own = calls.filter(({ role, path }) => role === 'operate' && procedures.includes(path));
  expect(new Set(own.map(({ section }) => section)).size).toBeGreaterThan(2);
  const refused = own.flatMap((call) =>
    needed(call).flatMap((permission) => {
      const { resource, context } = resourceIn(side, permission);
      const [asked] = requestsOfCall({ ...call, actions: [permission.action] }, row);
      const request = { ...asked, resource, context: { ...asked?.context, ...context } } as Request;
      const isAllowed = statementsFor(policyOf(`wallet-operate-${row.name}`), request).length > 0;
      return isAllowed && !isDenied(request) ? [] : [[call.section, call.text, permission.action]];
    }),
  );
  expect(refused).toEqual([]);
});

it('the role of deployments may assume the roles of the CDK, in both regions', () => {
  expect(calls.filter(({ kind }) => kind === 'cdk').length).toBeGreaterThan(5);
  for (const { row } of sides)
    for (const name of ['deploy', 'file-publishing', 'lookup']) {
      const resource = `arn:aws:iam::${account}:role/cdk-hnb659fds-${name}-role-${account}-${row.region}`;
      const call = calls.find(({ kind }) => kind === 'cdk') as DocumentedCall;
      const request = { ...(requestsOfCall(call, row)[0] as Request), resource };
      expect(statementsFor(policyOf(`wallet-deploy-${row.name}`), request)).toHaveLength(1);
      expect(isDenied(request)).toBe(false);
    }
});
