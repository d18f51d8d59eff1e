import { type App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { RegionApi } from '../../../lib/api/region-api';
import type { Environment } from '../../../lib/environment/environment';
import { environments } from '../../../lib/environments';
import type { Template as StackTemplate } from '../../../lib/local/template/assembly';
import { createResolver } from '../../../lib/local/template/intrinsics';
import { withApp } from '../../support/stacks';
import { allow, FakeFunction, type Resources, send, start, stopAll } from './support';

afterEach(stopAll);

const REGION = 'eu-central-1';

function synthesize(app: App, environment: Environment): StackTemplate {
  const stack = new Stack(app, 'Test', { env: { region: REGION } });
  const lambda = (id: string) =>
    new LambdaFunction(stack, id, {
      functionName: id,
      runtime: Runtime.NODEJS_22_X,
      handler: 'index.handler',
      code: Code.fromInline('-'),
    });
  new RegionApi(stack, 'Api', {
    environment,
    authorizeRequest: lambda('authorizer'),
    deleteUserGroup: lambda('groups'),
    webhookOriginAddress: '203.0.113.7',
    dashboardOrigin: 'https://dashboard.example.com',
  });
  return Template.fromStack(stack).toJSON() as StackTemplate;
}

/** The resources of an environment's API, from its own construct, with their intrinsic functions resolved. */
function apiResources(environmentName: string): Resources {
  const environment = environments.find(({ name }) => name === environmentName);
  if (!environment) throw new Error(`no environment ${environmentName}`);
  const template = withApp((app) => synthesize(app, environment));
  const resolver = createResolver({
    stackName: 'Test',
    region: REGION,
    accountId: '000000000000',
    template,
    resources: {
      ref: (logicalId) => logicalId,
      attribute: (logicalId) => {
        const name = template.Resources[logicalId]?.Properties?.FunctionName;
        return name ? `arn:aws:lambda:${REGION}:000000000000:function:${name}` : `${logicalId}-attribute`;
      },
      secret: () => undefined,
    },
  });
  const entries = Object.entries(template.Resources).filter(([, { Type }]) =>
    Type.startsWith('AWS::ApiGateway::'),
  );
  return Object.fromEntries(
    entries.map(([id, { Type, Properties }]) => [
      id,
      { Type, Properties: resolver.resolve(Properties, id) as Record<string, unknown> },
    ]),
  );
}

const functions = (code = 'token_expired') => [
  new FakeFunction('authorizer', (event) =>
    event.headers.authorization === 'Bearer good'
      ? allow(event, { sub: 'us-1' })
      : {
          principalId: 'denied',
          policyDocument: { Statement: [{ Effect: 'Deny', Action: 'execute-api:Invoke', Resource: '*' }] },
          context: { code, detail: 'The token has expired.' },
        },
  ),
  new FakeFunction('groups', () => ({ statusCode: 200, body: '{}' })),
];

test('the template of an environment is served: deletion behind the authorizer, origins without', async () => {
  const gateway = await start(apiResources('eu'), functions());
  const path = '/auth/user-groups/ug-00000-00000-00000000000000';
  const deleted = await send(gateway, 'DELETE', path, { authorization: 'Bearer good' });
  expect({ status: deleted.status, body: deleted.body }).toEqual({ status: 200, body: '{}' });

  const origins = await send(gateway, 'GET', '/webhook-origins');
  expect(origins).toMatchObject({
    status: 200,
    json: { environment: 'eu', region: 'eu-central-1', addresses: ['203.0.113.7/32'], deprecated: false },
    headers: { 'content-type': 'application/json' },
  });
});

test.each([
  ['no token', 'DELETE', '/auth/user-groups/a', undefined, 401, 'token_missing'],
  ['a denied token', 'DELETE', '/auth/user-groups/a', 'Bearer bad', 401, 'token_expired'],
  ['an unknown path', 'GET', '/nowhere', undefined, 404, 'route_not_found'],
  ['an unknown path with a token', 'GET', '/nowhere', 'Bearer good', 404, 'route_not_found'],
  ['an unknown method', 'POST', '/webhook-origins', undefined, 404, 'route_not_found'],
  ['a broken escape', 'DELETE', '/auth/user-groups/%zz', 'Bearer good', 400, 'bad_request'],
])(
  '%s is a problem of the gateway, in one shape',
  async (_, httpMethod, path, authorization, status, code) => {
    const gateway = await start(apiResources('eu'), functions());
    const answer = await send(gateway, httpMethod, path, authorization ? { authorization } : {});
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json).toMatchObject({
      type: `urn:wallet-infrastructure:problem:${code}`,
      status,
      code,
      requestId: answer.headers['x-amz-apigw-id'],
    });
    expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
  },
);

test('the throttle of the environment applies', async () => {
  const environment = environments.find(({ name }) => name === 'staging');
  const gateway = await start(apiResources('staging'), functions(), { clock: () => 0 });
  const burst = environment?.throttle.burst ?? 0;
  const answers = await Promise.all(
    Array.from({ length: burst + 1 }, () => send(gateway, 'GET', '/webhook-origins')),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(burst);
  expect(answers.find(({ status }) => status === 429)?.json).toMatchObject({ code: 'too_many_requests' });
});
