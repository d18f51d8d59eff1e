import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { problems as handlerProblems } from '../../lambda/delete-user-group/problems';
import { documentedProblems, expectDocumented, openApi, openApiFile, operations } from '../support/openapi';
import { gatewayResponses, synthesizeApi } from '../support/region-api';
import { temporaryFolder } from '../support/temporary-folder';

const deletion = openApi.paths['/auth/user-groups/{userGroupId}'].delete;

const designed = {
  400: ['invalid_user_group_id', 'query_not_allowed', 'body_not_allowed'],
  401: [
    'token_missing',
    'token_malformed',
    'token_signature_invalid',
    'token_expired',
    'token_not_yet_valid',
    'token_wrong_region',
  ],
  403: [
    'caller_kind_not_allowed',
    'user_action_missing',
    'user_action_invalid',
    'user_action_expired',
    'user_action_mismatch',
    'user_action_replayed',
    'permission_missing',
  ],
  404: ['user_group_not_found', 'route_not_found'],
  429: ['too_many_requests'],
  500: ['internal_error'],
  503: ['database_unavailable'],
};

/** The gateway's response for each denial reason of the authorizer. */
const denials = designed[401].filter((code) => code !== 'token_missing');

const filled = (code: string) => ({
  extendedRequestId: 'JKJaXmPLvHcESHA=',
  'authorizer.code': code,
  'authorizer.detail': 'The access token has expired. Obtain a new one.',
});

describe('the document', () => {
  const folder = temporaryFolder();
  const validate = (file: string) =>
    promisify(execFile)(process.execPath, [
      join(__dirname, '../../node_modules/@seriousme/openapi-schema-validator/bin/validate-api-cli.js'),
      file,
    ]);

  it('is valid OpenAPI 3.1, version 2.0.249', async () => {
    expect(openApi).toMatchObject({ openapi: '3.1.0', info: { version: '2.0.249' } });
    await expect(validate(openApiFile)).resolves.toMatchObject({
      stdout: expect.stringContaining('"valid": true'),
    });
  });

  it('fails validation when it is invalid', async () => {
    const file = join(folder(), 'openapi.json');
    writeFileSync(file, JSON.stringify({ ...openApi, info: { version: '2.0.249' } }));
    await expect(validate(file)).rejects.toThrow();
  });

  it('describes the deletion as it is specified', () => {
    expect(deletion).toMatchObject({
      operationId: 'deleteUserGroup',
      tags: ['Auth'],
      summary: 'Delete User Group',
      security: [{ authenticationToken: [], userActionSignature: [] }],
      parameters: [{ name: 'userGroupId', in: 'path', required: true }],
    });
    expect(deletion).not.toHaveProperty('requestBody');
    expect(openApi.components.schemas.UserGroupId).toMatchObject({
      type: 'string',
      minLength: 1,
      maxLength: 64,
      pattern: '^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$',
    });
    expect(openApi.components.securitySchemes).toMatchObject({
      authenticationToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      userActionSignature: { type: 'apiKey', in: 'header', name: 'X-SVC-USERACTION' },
    });
  });

  it('gives every response the headers of a deprecated environment', () => {
    const { responses } = openApi.components;
    for (const { path, method, operation } of operations())
      for (const [status, response] of Object.entries(operation.responses)) {
        const { headers } = '$ref' in response ? responses[response.$ref.split('/').at(-1) ?? ''] : response;
        expect([path, method, status, Object.keys(headers ?? {})]).toEqual([
          path,
          method,
          status,
          expect.arrayContaining(['Deprecation', 'Sunset']),
        ]);
      }
  });

  it.each(Object.entries(designed))('lists the codes of status %s', (status, codes) => {
    const listed = documentedProblems(deletion);
    for (const code of codes) expect(listed).toContain(`${status} ${code}`);
  });
});

describe('the synthesized API', () => {
  const api = synthesizeApi();
  const routes = api.routes();
  const fromGateway = gatewayResponses(api, filled('token_expired')).map(
    ({ status, body }) => `${status} ${JSON.parse(body).code}`,
  );

  it('has the routes of the document and no other', () => {
    const documented = operations().map(({ method, path }) => `${method} ${path}`);
    expect(Object.keys(routes).sort()).toEqual(documented.sort());
  });

  it('requires a token where the document does', () => {
    for (const { method, path, operation } of operations()) {
      expect(routes[`${method} ${path}`]).toMatchObject({
        AuthorizationType: operation.security.length > 0 ? 'CUSTOM' : 'NONE',
        OperationName: operation.operationId,
      });
    }
  });

  it('returns the reserve as documented', () => {
    const { Integration } = synthesizeApi({}, undefined, '203.0.113.8').routes()[
      'GET /webhook-origins'
    ] as unknown as {
      Integration: { IntegrationResponses: { ResponseTemplates: Record<string, string> }[] };
    };
    const body = Integration.IntegrationResponses[0]?.ResponseTemplates['application/json'] ?? '';
    const told = (reserve: unknown) => () =>
      expectDocumented({
        method: 'GET',
        path: '/webhook-origins',
        status: 200,
        contentType: 'application/json',
        body: JSON.stringify({ ...JSON.parse(body), reserve }),
      });
    told(JSON.parse(body).reserve)();
    for (const another of ['203.0.113.8/32', ['203.0.113.8'], []]) expect(told(another)).toThrow('reserve');
  });

  it.each(denials)('denies with %s as documented', (code) => {
    const denied = gatewayResponses(api, filled(code)).find(({ type }) => type === 'ACCESS_DENIED');
    expectDocumented({
      method: 'DELETE',
      path: '/auth/user-groups/ug-1',
      status: denied?.status ?? 0,
      contentType: denied?.headers['content-type'],
      body: denied?.body ?? '',
    });
  });

  it.each(gatewayResponses(api, filled('token_expired')))(
    'answers $type as documented',
    ({ status, headers, body }) => {
      expectDocumented({
        method: 'DELETE',
        path: '/auth/user-groups/ug-1',
        status,
        contentType: headers['content-type'],
        body,
      });
    },
  );

  it('and its functions return exactly the documented problems of the deletion', () => {
    const fromAuthorizer = denials.map((code) => `401 ${code}`);
    const fromHandler = Object.entries(handlerProblems).map(([code, { status }]) => `${status} ${code}`);
    expect(new Set([...fromGateway, ...fromAuthorizer, ...fromHandler])).toEqual(
      new Set(documentedProblems(deletion)),
    );
  });

  it('documents the problems that the gateway can return for a public route', () => {
    const ofTokensAndFunctions = /^(401|504) /;
    const due = fromGateway.filter((problem) => !ofTokensAndFunctions.test(problem));
    const { get, head } = openApi.paths['/webhook-origins'];
    for (const operation of [get, head]) expect(new Set(documentedProblems(operation))).toEqual(new Set(due));
  });
});

describe('validating a response against the document', () => {
  const notFound = {
    method: 'DELETE',
    path: '/auth/user-groups/ug-1?x=1',
    status: 404,
    contentType: 'application/problem+json; charset=utf-8',
    body: JSON.stringify({
      type: 'urn:wallet-infrastructure:problem:user_group_not_found',
      title: 'User group not found',
      status: 404,
      detail: 'There is no such user group.',
      code: 'user_group_not_found',
      requestId: 'r',
    }),
  };

  it('accepts what is documented', () => {
    expectDocumented(notFound);
    expectDocumented({ ...notFound, status: 200, contentType: 'application/json', body: '{}' });
    expectDocumented({
      ...notFound,
      method: 'POST',
      body: notFound.body.replaceAll('user_group_not_found', 'route_not_found'),
    });
  });

  it.each([
    ['another status', { status: 418 }],
    ['another type', { contentType: 'application/json' }],
    ['no type', { contentType: undefined }],
    ['a code of another status', { body: notFound.body.replaceAll('user_group_not_found', 'token_expired') }],
    ['no request id', { body: notFound.body.replace('requestId', 'id') }],
    ['no JSON', { body: '<html>' }],
    ['a success with content', { status: 200, contentType: 'application/json', body: '{"deleted":true}' }],
    ["a resource's problem on an unknown route", { path: '/auth/user-groups' }],
  ])('refuses %s', (_, difference) => {
    expect(() => expectDocumented({ ...notFound, ...difference })).toThrow(notFound.method);
  });
});
