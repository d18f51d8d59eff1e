import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { maxEventBytes, parseEvent } from '../../domain/event';
import { isId, newId } from '../../domain/ids';
import { longestProbeAge } from '../../domain/probe';
import { fail } from '../../domain/result';
import { type Operation, routes as table, tokenDetails } from '../../domain/routes';
import { signatureHeaders } from '../../domain/signature';
import { userAction } from '../../domain/tokens';
import { defaultLifetimeSeconds } from '../../lambda/authorize-request/variables';
import { respond } from '../../lambda/shared/http';
import { timeouts } from '../../lambda/shared/timeouts';
import { clockToleranceSeconds } from '../../lambda/shared/verify-jwt';
import { functionRoutes, routeTable } from '../../lib/api/routes';
import { portOf } from '../../local/shared/ports';
import { withProblems } from '../runs/write-problems';
import { recordLog } from '../support/log';
import {
  documentedProblems,
  expectDocumented,
  openApi,
  openApiFile,
  operations,
  validate,
} from '../support/openapi';
import { apiOf } from '../support/region-api';
import { first, withEveryOption, withoutSla } from '../support/rows';
import { stackOf } from '../support/stacks';

const denials = Object.keys(tokenDetails);
const { Problem, WebhookOrigins } = openApi.components.schemas;

it('the document is valid OpenAPI 3.1', async () => {
  const validator = require.resolve('@seriousme/openapi-schema-validator/bin/validate-api-cli.js');
  const { stdout } = await promisify(execFile)(process.execPath, [validator, openApiFile]);
  expect(stdout).toContain('"valid": true');
});

it('uses each component and tag that it defines, and no other', () => {
  const references = JSON.stringify(openApi).matchAll(/"\$ref":"#\/components\/(\w+\/[\w-]+)"/g);
  const used = Array.from(references, ([, name]) => name);
  for (const { operation } of operations()) {
    const schemes: string[] = operation.security.flatMap(Object.keys);
    used.push(...schemes.map((name) => `securitySchemes/${name}`), `tags/${operation.tags}`);
  }
  const tags = openApi.tags.map(({ name }: { name: string }) => [name, {}]);
  const all = Object.entries<object>({ ...openApi.components, tags: Object.fromEntries(tags) });
  const defined = all.flatMap(([kind, each]) => Object.keys(each).map((name) => `${kind}/${name}`));
  expect(new Set(used)).toEqual(new Set(defined));
});

const placed: [names: readonly string[], node: typeof openApi][] = [];
function place(names: readonly string[], node: typeof openApi): void {
  if (typeof node !== 'object') return;
  placed.push([names, node]);
  for (const [name, each] of Object.entries(node)) place([...names, name], each);
}
place([], openApi);
const nodes = placed.map(([, node]) => node);

const schemas = Object.entries<typeof openApi>(openApi.components.schemas);
it('says what each value is, but for the data of events, and which may be absent', () => {
  const says = ['type', '$ref', 'const', 'enum', 'oneOf', 'allOf'];
  const isValue = /^components schemas \w+( properties \w+| items)*$/;
  const values = placed.map(([names, node]) => [names.join(' '), node]).filter(([at]) => isValue.test(at));
  const untyped = values.filter(([, node]) => !says.some((name) => name in node)).map(([at]) => at);
  expect(untyped).toEqual(['components schemas WebhookEvent properties data']);
  const optional = schemas.flatMap(([name, { properties = {}, required = [] }]) => {
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(required));
    return Object.keys(properties).flatMap((each) => (required.includes(each) ? [] : `${name}.${each}`));
  });
  expect(optional).toEqual(['WebhookOrigins.reserve', 'WebhookOrigins.deprecation', 'Deprecation.sunset']);
});

it('lists the problems of domain/routes.ts, as npx tsx test/runs/write-problems.ts writes them', () => {
  const document = readFileSync(openApiFile, 'utf8');
  expect(withProblems(document)).toBe(document);
  expect(withProblems(document.replaceAll(/^ +- user_group_not_found\n/gm, ''))).toBe(document);
});

/** A token and a user action: one object, because each of several would be enough. */
const securityOf = (name: Operation) => {
  const userAction = 'user_action_missing' in table[name].problems && { userActionSignature: [] };
  return routeTable[name].requiresToken ? [{ authenticationToken: [], ...userAction }] : [];
};

describe.each([withEveryOption(first), withoutSla])('the synthesized API of $name', (row) => {
  const { routes, gatewayResponses, origins } = apiOf(stackOf(row));
  const context = { extendedRequestId: 'request-1', 'authorizer.detail': 'A text.' };
  const responsesFor = (code: string) => gatewayResponses({ ...context, 'authorizer.code': code });
  const fromGateway = responsesFor('token_expired');

  it('has the routes of the document and no other, with the security that each needs', () => {
    const documented = operations().map(({ method, path, operation: { operationId, security } }) => [
      ...[`${method} ${path}`, operationId, security, security.length > 0 ? 'CUSTOM' : 'NONE'],
    ]);
    const deployed = Object.entries(routes).map(([route, { OperationName, AuthorizationType }]) => [
      ...[route, OperationName, securityOf(OperationName), AuthorizationType],
    ]);
    expect(deployed.sort()).toEqual(documented.sort());
  });

  const denied = denials.map((code) => ({
    ...responsesFor(code).find(({ type }) => type === 'ACCESS_DENIED'),
    type: code,
  }));
  it.each([...denied, ...fromGateway])('returns $type as documented', (response) => {
    const { status = 0, headers = {}, body = '' } = response;
    expectDocumented({ method: 'DELETE', path: '/auth/user-groups/ug-1', status, headers, body });
    expect(Object.keys(JSON.parse(body)).sort()).toEqual(Problem.required.toSorted());
  });

  it('returns the addresses as documented', () => {
    const { headers = {}, body: template = '' } = origins ?? {};
    const body = template.replace(/\{[\w.]+\}/g, '203.0.113.7');
    expectDocumented({ method: 'GET', path: '/webhook-origins', status: 200, headers, body });
    const optional = { reserve: row.webhookOrigin?.reserve, deprecation: row.deprecation };
    const present = Object.entries(optional).flatMap(([name, value]) => (value ? [name] : []));
    expect(Object.keys(JSON.parse(body)).sort()).toEqual([...WebhookOrigins.required, ...present].sort());
  });

  const gatewayProblems = fromGateway.map(({ status, body }) => `${status} ${JSON.parse(body).code}`);

  const withBody = Object.entries(table).filter(([, { method }]) => method !== 'HEAD');
  it.each(withBody)('and its functions return exactly the documented problems: %s', (name, route) => {
    const { requiresToken, ...row } = routeTable[name as Operation];
    const hasFunction = 'createFunction' in row;
    const fromAuthorizer = requiresToken ? denials.map((code) => `401 ${code}`) : [];
    const others = [!requiresToken && '401', !hasFunction && '504'];
    const ofGateway = gatewayProblems.filter((problem) => !others.includes(problem.slice(0, 3)));
    const fromFunction = Object.entries(route.problems).map(([code, { status }]) => `${status} ${code}`);
    const { operation } = operations().find(({ operation }) => operation.operationId === name) ?? {};
    const returned = [...ofGateway, ...fromAuthorizer, ...fromFunction];
    expect(new Set(documentedProblems(operation))).toEqual(new Set(returned));
  });
});

it('has examples that are as it says', () => {
  const found = placed.flatMap(([names, { schema, example, examples = {} }]) => {
    const all = [example, ...Object.values(examples as object).map(({ value }) => value)];
    return schema ? all.flatMap((each) => (each === undefined ? [] : [[names, each] as const])) : [];
  });
  expect(found.length).toBeGreaterThan(5);
  for (const [names, example] of found) validate([...names, 'schema'], example, names.join(' '));
});

it("has the first environment's address on this machine as its default", () => {
  const address = `http://127.0.0.1:${portOf('api', 0, { offset: 0 })}`;
  expect(openApi.servers).toMatchObject([{ variables: { base_url: { default: address } } }]);
});

it('requires every parameter, those of its path among them, and every body', () => {
  const inputs = nodes.filter((node) => 'in' in node && 'schema' in node);
  const bodies = nodes.flatMap(({ requestBody }) => (requestBody ? [requestBody] : []));
  expect([...inputs, ...bodies].filter((each) => !(each as { required?: boolean }).required)).toEqual([]);
  const namesOf = (parameters: readonly { name: string }[] = []) => parameters.map(({ name }) => name);
  for (const { path, operation } of operations())
    expect(namesOf(operation.parameters)).toEqual(path.match(/(?<=\{).+?(?=\})/g) ?? []);
  const headers = namesOf(openApi.webhooks.event.post.parameters);
  expect(headers).toEqual(['webhook-id', 'webhook-timestamp', ...signatureHeaders]);
});

it('states the limits of the code, and no other', () => {
  const texts = nodes.flatMap(({ description }) => (typeof description === 'string' ? [description] : []));
  const limit = /\b(an?|two|five|\d[\d,]*)\s+(hours?|[KM]i?B|levels|minutes?|seconds?|bytes)\b/g;
  const stated = texts.flatMap((text) => text.match(limit) ?? []).map((text) => text.replace(/\s+/, ' '));
  const event = openApi.webhooks.event.post.requestBody.content['application/json'].example;
  const levels = (count: number) => JSON.parse(`${'['.repeat(count)}0${']'.repeat(count)}`);
  const isAccepted = (count: number) => parseEvent(JSON.stringify({ ...event, data: levels(count) })).ok;
  const deepest = Array.from({ length: 200 }, (_, count) => count).findLast(isAccepted);
  const words: Readonly<Record<number, string>> = { 2: 'two', 5: 'five' };
  const inMinutes = (seconds: number) => `${words[seconds / 60]} minutes`;
  expect([...new Set(stated)].sort()).toEqual(
    [
      ...[`${maxEventBytes / 1024} KiB`, `${deepest} levels`, `${timeouts.response / 1_000} seconds`],
      ...[`${defaultLifetimeSeconds / 3_600} hours`, `${words[clockToleranceSeconds]} seconds`],
      ...[inMinutes(userAction.lifetime), inMinutes(longestProbeAge / 1_000)],
      // The addresses' Cache-Control, in api.test.ts; API Gateway's own.
      ...['an hour', '10 MB', '10,240 bytes'],
    ].sort(),
  );
  expect(texts).toContain(table.checkDelivery.problems.delivery_too_old.detail);
});

it.each(['UserGroupId', 'webhookId'])('%s is what the code takes for an id', (name) => {
  const schema = openApi.components.schemas[name] ?? nodes.find((node) => node.name === name)?.schema;
  const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const [, prefix = ''] = /^\^(\w\w)-/.exec(pattern) ?? [];
  const id = newId(prefix as 'ug');
  const near = Array.from(id, (_, at) => [
    ...Array.from('-aA0_ \n', (one) => id.slice(0, at) + one + id.slice(at + 1)),
    ...[id.slice(0, at), id + id.slice(at), id.slice(at)],
  ]).flat();
  const accepts = (text: string) =>
    new RegExp(pattern).test(text) && text.length >= minLength && text.length <= maxLength;
  for (const each of [id, ...near]) expect([each, accepts(each)]).toEqual([each, isId(each, prefix as 'ug')]);
});

it('any response may announce a deprecation, and the last day', () => {
  const all = [openApi.components.responses, ...operations().map(({ operation }) => operation.responses)];
  for (const [name, { $ref, headers = {} }] of all.flatMap(Object.entries<typeof openApi>))
    if (!$ref) expect([name, headers]).toMatchObject([name, { Deprecation: {}, Sunset: {} }]);
});

it('documents no body of a response to HEAD, and the statuses of GET', () => {
  const { head, get } = openApi.paths['/webhook-origins'];
  expect(Object.keys(head.responses)).toEqual(Object.keys(get.responses));
  const { 200: succeeded, ...others } = head.responses;
  const references = Object.values(others).map((each) => Object(each).$ref);
  expect(new Set(references)).toEqual(new Set(['#/components/responses/WithoutBody']));
  for (const each of [succeeded, openApi.components.responses.WithoutBody])
    expect(each).not.toHaveProperty('content');
});

it.each(functionRoutes)('the function of %s returns each of its problems as documented', async (name) => {
  const { method, path, problems } = table[name];
  const event = { requestContext: { extendedRequestId: 'request-1' } } as never;
  for (const code of Object.keys(problems)) {
    const responding = { operation: name, log: recordLog(), responseHeaders: {} };
    const refuse = async () => fail({ code }) as never;
    const { statusCode: status, headers: own = {}, body } = await respond(event, responding, refuse);
    const headers = Object.entries(own).map(([header, value]) => [header.toLowerCase(), value]);
    const response = { status, headers: Object.fromEntries(headers), body };
    expectDocumented({ method, path: path.replace(/\{.+?\}/, 'id'), ...response });
  }
});
