import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Operation, routes as table, tokenDetails } from '../../domain/routes';
import { functionRoutes, routeTable } from '../../lib/api/routes';
import { withProblems } from '../runs/write-problems';
import { documentedProblems, expectDocumented, openApi, openApiFile, operations } from '../support/openapi';
import { apiOf } from '../support/region-api';
import { first, withEveryOption } from '../support/rows';
import { stackOf } from '../support/stacks';

/** The codes of the authorizer's denials, each a response of the gateway. */
const denials = Object.keys(tokenDetails);

it('the document is valid OpenAPI 3.1', async () => {
  const validator = require.resolve('@seriousme/openapi-schema-validator/bin/validate-api-cli.js');
  const { stdout } = await promisify(execFile)(process.execPath, [validator, openApiFile]);
  expect(stdout).toContain('"valid": true');
});

it('lists the problems of domain/routes.ts, as npx tsx test/runs/write-problems.ts writes them', () => {
  const document = readFileSync(openApiFile, 'utf8');
  expect(withProblems(document)).toBe(document);
  expect(withProblems(document.replaceAll(/^ +- user_group_not_found\n/gm, ''))).toBe(document);
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

  const gatewayProblems = fromGateway.map(({ status, body }) => `${status} ${JSON.parse(body).code}`);

  it.each(Object.entries(table).filter(([, { method }]) => method !== 'HEAD'))(
    'and its functions return exactly the documented problems: %s',
    (name, route) => {
      const { requiresToken, ...row } = routeTable[name as Operation];
      const hasFunction = 'createFunction' in row;
      const fromAuthorizer = requiresToken ? denials.map((code) => `401 ${code}`) : [];
      const ofGateway = gatewayProblems.filter(
        (problem) =>
          (requiresToken || !problem.startsWith('401 ')) && (hasFunction || !problem.startsWith('504 ')),
      );
      const fromFunction = Object.entries(route.problems).map(([code, { status }]) => `${status} ${code}`);
      const { operation } = operations().find(({ operation }) => operation.operationId === name) ?? {};
      expect(new Set(documentedProblems(operation))).toEqual(
        new Set([...ofGateway, ...fromAuthorizer, ...fromFunction]),
      );
    },
  );
});

it('documents no body of a response to HEAD, and the statuses of GET', () => {
  const responses = openApi.paths['/webhook-origins'];
  expect(Object.keys(responses.head.responses)).toEqual(Object.keys(responses.get.responses));
  const { 200: succeeded, ...others } = responses.head.responses;
  for (const each of Object.values(others))
    expect(each).toEqual({ $ref: '#/components/responses/WithoutBody' });
  expect([succeeded.content, openApi.components.responses.WithoutBody.content]).toEqual([
    undefined,
    undefined,
  ]);
});

it.each(functionRoutes)('the function of %s has a problem for 503 and one for 500', (name) => {
  const statuses = Object.values(table[name].problems).map(({ status }) => status);
  expect(statuses).toEqual(expect.arrayContaining([500, 503]));
});
