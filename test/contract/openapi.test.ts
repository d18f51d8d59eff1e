import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { problems as handlerProblems } from '../../lambda/shared/http';
import { tokenDetails } from '../../lambda/shared/verify-jwt';
import { documentedProblems, expectDocumented, openApi, openApiFile, operations } from '../support/openapi';
import { apiOf } from '../support/region-api';
import { first, withEveryOption } from '../support/rows';
import { stackOf } from '../support/stacks';

const deletion = openApi.paths['/auth/user-groups/{userGroupId}'].delete;
/** The codes of the authorizer's denials, each a response of the gateway. */
const denials = Object.keys(tokenDetails);

it('the document is valid OpenAPI 3.1', async () => {
  const validator = require.resolve('@seriousme/openapi-schema-validator/bin/validate-api-cli.js');
  const { stdout } = await promisify(execFile)(process.execPath, [validator, openApiFile]);
  expect(stdout).toContain('"valid": true');
});

describe('the synthesized API', () => {
  const { routes, gatewayResponses } = apiOf(stackOf(withEveryOption(first)));
  const context = { extendedRequestId: 'request-1', 'authorizer.detail': 'A text.' };
  const responsesFor = (code: string) => gatewayResponses({ ...context, 'authorizer.code': code });
  const fromGateway = responsesFor('token_expired');

  it('has the routes of the document and no other, with a token where the document requires one', () => {
    const documented = operations().map(({ method, path, operation }) => [
      `${method} ${path}`,
      expect.objectContaining({
        AuthorizationType: operation.security.length > 0 ? 'CUSTOM' : 'NONE',
        OperationName: operation.operationId,
      }),
    ]);
    expect(routes).toEqual(Object.fromEntries(documented));
  });

  const denied = denials.map((code) => ({
    ...responsesFor(code).find(({ type }) => type === 'ACCESS_DENIED'),
    type: code,
  }));
  it.each([...denied, ...fromGateway])('returns $type as documented', (response) => {
    const { status = 0, headers, body = '' } = response;
    const answer = { status, contentType: headers?.['content-type'], body };
    expectDocumented({ method: 'DELETE', path: '/auth/user-groups/ug-1', ...answer });
  });

  it('and its functions return exactly the documented problems', () => {
    const fromAuthorizer = denials.map((code) => `401 ${code}`);
    const all = Object.entries(handlerProblems).map(([code, { status }]) => `${status} ${code}`);
    const ofCheck = /^(?!5).* (signature|source|delivery)_|secret_/;
    const fromHandler = all.filter((problem) => !ofCheck.test(problem));
    const gatewayProblems = fromGateway.map(({ status, body }) => `${status} ${JSON.parse(body).code}`);
    const ofDeletion = [...gatewayProblems, ...fromAuthorizer, ...fromHandler];
    expect(new Set(documentedProblems(deletion))).toEqual(new Set(ofDeletion));
    const check = openApi.paths['/webhook-origins/check/{webhookId}'].post;
    const withoutToken = gatewayProblems.filter((problem) => !problem.startsWith('401 '));
    const fromCheck = all.filter((problem) => ofCheck.test(problem));
    expect(new Set(documentedProblems(check))).toEqual(new Set([...withoutToken, ...fromCheck]));
    // Public routes have neither tokens nor functions.
    const ofPublicRoutes = new Set(gatewayProblems.filter((problem) => !/^(401|504) /.test(problem)));
    const { get, head } = openApi.paths['/webhook-origins'];
    for (const operation of [get, head])
      expect(new Set(documentedProblems(operation))).toEqual(ofPublicRoutes);
  });
});
