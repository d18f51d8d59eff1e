import type { Json, StackTemplate } from './stacks';

/** A REST API of a serving stack: the service's, or the dashboard's. */
export function apiOf(stack: StackTemplate, name: 'Api' | 'Dashboard' = 'Api') {
  const { logicalId } = stack.named('AWS::ApiGateway::RestApi', name);
  const all = (type: string): Json[] =>
    stack
      .all(`AWS::ApiGateway::${type}`)
      .filter(({ Properties }) => Properties.RestApiId?.Ref === logicalId)
      .map(({ Properties }) => Properties);
  const pathOf = (id: Json): string => {
    if (id.Ref === undefined) return '';
    const { ParentId, PathPart } = stack.get(id.Ref).Properties;
    return `${pathOf(ParentId)}/${PathPart}`;
  };
  const routes: Readonly<Record<string, Json>> = Object.fromEntries(
    all('Method').map((method) => [`${method.HttpMethod} ${pathOf(method.ResourceId)}`, method]),
  );
  const origins = routes['GET /webhook-origins']?.Integration.IntegrationResponses[0];
  return {
    logicalId,
    all,
    routes,
    origins: origins && {
      headers: headersOf(origins.ResponseParameters),
      body: textOf(origins.ResponseTemplates['application/json']),
    },
    /** The gateway's own responses, with the variables of their templates filled in as the gateway does: unescaped. */
    gatewayResponses: (context: Readonly<Record<string, string>> = {}) =>
      all('GatewayResponse').map(({ ResponseType, StatusCode, ResponseParameters, ResponseTemplates }) => ({
        type: String(ResponseType),
        status: Number(StatusCode),
        headers: headersOf(ResponseParameters),
        body: ResponseTemplates['application/json'].replace(
          /\$context\.([A-Za-z.]+)/g,
          (_: string, name: string) => context[name] ?? '',
        ),
      })),
  };
}

/** Keyed by lower-case name; static values without their quotes. */
const headersOf = (parameters: Readonly<Record<string, Json>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name.replace(/^.*\.header\./, '').toLowerCase(),
      textOf(value).replace(/^'|'$/g, ''),
    ]),
  );

/** A template value as text, with references as logical ids in braces. */
export function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  const parts: Json[] | undefined = value['Fn::Join']?.[1];
  return parts ? parts.map(textOf).join('') : `{${Object.values(value).flat().join('.')}}`;
}
