import type { MethodModel, MockIntegration, ResponseModel } from './model';
import { type Entry, type Fields, fields, functionArnOf } from './resource-entry';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const DEFAULT_TIMEOUT_MS = 29_000;

/** The Velocity template language beyond plain variables. */
const TEMPLATE_LANGUAGE = /\$!?\{|\$!?input\b|\$!?util\b|#(?:set|if|elseif|else|foreach|end|macro)\b/;

/** @throws Error for an integration other than Lambda proxy and MOCK, and for templates that need an engine. */
export function readIntegration(method: Entry): MethodModel['integration'] {
  const integration = fields(method.Integration);
  if (integration.Type === 'AWS_PROXY') {
    return {
      type: 'AWS_PROXY',
      functionArn: functionArnOf(method.logicalId, integration.Uri),
      timeoutMs: Number(integration.TimeoutInMillis ?? DEFAULT_TIMEOUT_MS),
    };
  }
  if (integration.Type === 'MOCK') return readMock(method, integration);
  throw new Error(
    `${method.logicalId}: integrations of type ${integration.Type} are not served on this machine`,
  );
}

function readMock(method: Entry, integration: Fields): MockIntegration {
  const [response, another] = (integration.IntegrationResponses as Fields[] | undefined) ?? [];
  if (integration.PassthroughBehavior !== 'NEVER' || another || response?.SelectionPattern) {
    throw new Error(
      `${method.logicalId}: of MOCK, only PassthroughBehavior NEVER with one response is served on this machine`,
    );
  }
  const declared = (method.MethodResponses as { StatusCode: unknown }[] | undefined) ?? [];
  const requestTemplates = fields(integration.RequestTemplates) as Record<string, string>;
  refuseTemplateLanguage(method.logicalId, requestTemplates);
  return {
    type: 'MOCK',
    requestTemplates,
    response: response && readResponse(method.logicalId, response),
    declaredStatusCodes: declared.map(({ StatusCode }) => String(StatusCode)),
  };
}

/** What gateway responses and the integration responses of a mock have in common. */
export function readResponse(logicalId: string, response: Fields): ResponseModel {
  const { StatusCode, ResponseParameters, ResponseTemplates } = response;
  const templates = fields(ResponseTemplates) as Record<string, string>;
  refuseTemplateLanguage(logicalId, templates);
  return {
    statusCode: StatusCode === undefined ? undefined : String(StatusCode),
    headers: Object.fromEntries(
      Object.entries(fields(ResponseParameters)).map(([name, expression]) => [
        name.replace(/^(method\.response|gatewayresponse)\.header\./, ''),
        String(expression),
      ]),
    ),
    templates,
  };
}

/** A template that would give another text here than at AWS is refused. */
function refuseTemplateLanguage(logicalId: string, templates: Readonly<Record<string, string>>): void {
  const [found] = TEMPLATE_LANGUAGE.exec(Object.values(templates).join('\n')) ?? [];
  if (found) throw new Error(`${logicalId}: a template uses ${found}, which is not rendered on this machine`);
}
